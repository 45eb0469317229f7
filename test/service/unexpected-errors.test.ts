import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { functionNames } from '../../infra/settings/names.ts';
import { errors } from '../../lib/contract/errors.ts';
import { noContent } from '../../lib/http/response.ts';
import { definition as getPet } from '../../lib/operations/get-pet.ts';
import { LoggableError } from '../../lib/telemetry/loggable-error.ts';
import { captureLog, expectOneFailure } from '../support/captured-log.ts';
import { bearer } from '../support/events.ts';
import { invoke, lambdaContext, startHandlers } from '../support/handlers.ts';

const service = await startHandlers();
// Imported after its environment is set.
const { operationChain } = await import('../../lib/http/chain.ts');

/** A place in the file that finds our own frames, which is a bundle when it is deployed. */
const ownFrame = `${join(projectDirectory, 'lib/telemetry/cause.ts')}:4111111111111111:1`;

const request = { path: { petId: '1' }, headers: bearer(service.apiKey) };

/** Calls getPet with a handler that throws. Returns the log. */
const throwing = async (thrown: unknown) => {
  const lines = captureLog();
  const handler = operationChain(getPet).handler(async ({ input }, context) => {
    // The context was `any` once, and nothing checked what handlers do with it.
    expectTypeOf(context).not.toBeAny();
    expectTypeOf(input.path).toEqualTypeOf<{ petId: number }>();
    expectTypeOf(input.query).toEqualTypeOf<Record<never, never>>();
    throw thrown;
  });
  const { status, body } = await invoke(handler, request);
  expect(status).toBe(500);
  expect(body).toEqual(errors.internalError().body);
  expect(lines.join()).not.toMatch(/secret|4111111111111111/);
  return lines;
};

describe('a handler that throws', () => {
  it.each<[kind: string, name: string, thrown: unknown]>([
    ['an error', 'TypeError', new TypeError('secret SDK text')],
    [
      'an error that looks exposed',
      'Error',
      Object.assign(new Error('secret SDK text'), { statusCode: 404, expose: true }),
    ],
    ['an error whose cause is null', 'Error', new Error('x', { cause: null })],
    [
      "an error that resembles one of Middy's",
      'Error',
      new Error('x', { cause: { package: 'secret', data: 'secret' } }),
    ],
    ['an error whose text looks like our own frame', 'Error', new Error(`x\n    at ${ownFrame}`)],
    ['an error without a stack', 'Error', Object.assign(new Error('x'), { stack: undefined })],
    ['a string', 'string', 'secret SDK text'],
    ['null', 'object', null],
    ['a response', 'object', noContent()],
  ])('%s returns 500 and writes one log line with the request id', async (_kind, name, thrown) => {
    const line = { operation: 'getPet', lambdaRequestId: 'request-id', code: 'internal_error' };
    const lines = await throwing(thrown);
    expectOneFailure(lines, { ...line, cause: { name } });
    expect(JSON.parse(lines.join()).cause).not.toHaveProperty('message');
  });

  it('writes the message of an error of ours, which can have no value of a request', async () => {
    const message = 'The stock is inconsistent';
    expectOneFailure(await throwing(new LoggableError(message)), { cause: { message } });
    // @ts-expect-error: the message is not written in the code
    expect(new LoggableError(`The stock of ${service.apiKey}`)).toBeInstanceOf(Error);
  });
});

describe('an event that is not of a REST API', () => {
  const httpApi = { http: { method: 'GET', path: '/pets' }, accountId: '123456789012' };
  it.each([
    ['an empty one', {}],
    ['null', null],
    ['of an HTTP API', { version: '2.0', routeKey: 'GET /pets', requestContext: httpApi }],
    ['of EventBridge', { version: '0', 'detail-type': 'Scheduled Event', detail: {} }],
  ])('gets 500 from each function, and one log line: %s', async (_kind, event) => {
    for (const operation of functionNames) {
      const lines = captureLog();
      const context = lambdaContext('request-id');
      const response = await Reflect.apply(service[operation], undefined, [event, context]);
      const { body } = errors.internalError();
      expect(response).toMatchObject({ statusCode: 500, body: JSON.stringify(body) });
      expectOneFailure(lines, {
        operation,
        code: body.code,
        cause: { message: 'The event is not that of a REST API' },
      });
    }
  });
});
