import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { errors } from '../../lib/contract/errors.ts';
import { getPet } from '../../lib/contract/operations.ts';
import { json } from '../../lib/http/response.ts';
import {
  captureLog,
  expectOneFailure,
  getRequest,
  invoke,
  startHandlers,
} from '../support/handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;
let operation: typeof import('../../lib/http/operation.ts').operation;

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
  ({ operation } = await import('../../lib/http/operation.ts'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const circular: { self?: unknown } = {};
circular.self = circular;

describe('a handler that throws', () => {
  it.each<[kind: string, name: string, thrown: unknown]>([
    ['an error', 'TypeError', new TypeError('secret SDK text')],
    ['a frozen error', 'Error', Object.freeze(new Error('secret SDK text'))],
    ['an error with a status', 'Error', Object.assign(new Error('x'), { statusCode: 404 })],
    ['an error that looks exposed', 'Error', Object.assign(new Error('x'), { expose: true })],
    ['a string', 'string', 'secret SDK text'],
    ['a number', 'number', 0],
    ['null', 'object', null],
    ['undefined', 'undefined', undefined],
    ['a function', 'function', () => 'secret SDK text'],
    ['a response', 'object', json(200, {})],
  ])('%s gets 500 and one log line with the request id', async (_kind, name, thrown) => {
    const lines = captureLog();
    const handler = operation(getPet).handler(async () => {
      throw thrown;
    });
    const { status, body, text } = await invoke(handler, getRequest(apiKey, 1), {
      requestId: 'request-42',
    });
    expect(status).toBe(500);
    expect(body).toEqual({
      code: 'internal_error',
      message: errors.internalError().message,
      status: 500,
    });
    expect(text).not.toContain('secret');
    expectOneFailure(lines, {
      operation: 'getPet',
      lambdaRequestId: 'request-42',
      code: 'internal_error',
      cause: { name },
    });
    expect(lines[0]).not.toContain('secret');
  });

  it('is found by file, line and column in the log', async () => {
    const lines = captureLog();
    const handler = operation(getPet).handler(async () => {
      throw new RangeError('out of range');
    });
    await invoke(handler, getRequest(apiKey, 1));
    expect(JSON.parse(lines[0] ?? '').cause.thrownAt).toMatch(
      /^unexpected-errors\.test\.ts:\d+:\d+$/,
    );
  });

  it.each(['connect to pets_test_ab_cd:1:1', 'two lines\n    at pets_test_ab_cd:1:1'])(
    'is not taken for a place in the code where its message looks like one: %j',
    async (message) => {
      const lines = captureLog();
      const handler = operation(getPet).handler(async () => {
        throw new Error(message);
      });
      await invoke(handler, getRequest(apiKey, 1));
      expect(lines[0]).not.toContain('pets_test_ab');
      expect(JSON.parse(lines[0] ?? '').cause.thrownAt).toMatch(/^unexpected-errors\.test\.ts:/);
    },
  );
});

describe('a reply that cannot be built', () => {
  it.each([
    ['is circular', circular],
    [
      'throws while it is written',
      {
        toJSON: () => {
          throw new Error('secret');
        },
      },
    ],
  ])('gets 500 when it %s', async (_kind, reply) => {
    const lines = captureLog();
    const handler = operation(getPet).handler(async () => json(200, reply));
    const { status, body } = await invoke(handler, getRequest(apiKey, 1));
    expect(status).toBe(500);
    expect(body.code).toBe('internal_error');
    expectOneFailure(lines, { code: 'internal_error', lambdaRequestId: 'request-id' });
  });
});
