import { describe, expect, it } from 'vitest';
import {
  bearer,
  createRequest,
  getRequest,
  type Handler,
  startHandlers,
} from '../support/handlers.ts';
import { type EventParts, lambdaContext, proxyEvent } from '../support/proxy-event.ts';

/** What API Gateway lets through: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const headerBytes = 10_240;
const gatewayBodyBytes = 10 * 1_024 * 1_024;
const bodyBytes = 8_192;
/** Leaves room for the request's other headers. */
const valueBytes = headerBytes - 400;

/** The slowest input, JSON with 4,000 numbers, takes 60 times as long as text; quadratic time would take 480 times. */
const maxRatio = 150;

const service = await startHandlers();
const apiKey = await service.issueApiKey();

/** CPU time of ten invocations in µs. */
const cpuTimeOf = async (handler: Handler, parts: EventParts): Promise<number> => {
  const event = proxyEvent(parts);
  const context = lambdaContext('request-id');
  const before = process.cpuUsage();
  for (let run = 0; run < 10; run += 1) await handler({ ...event }, { ...context });
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const expectNoSlower = async (handler: Handler, hostile: EventParts, harmless: EventParts) =>
  expect(await cpuTimeOf(handler, hostile)).toBeLessThan(
    maxRatio * (await cpuTimeOf(handler, harmless)),
  );

const fill = (piece: string, bytes: number) => piece.repeat(bytes).slice(0, bytes);
const padding = { 'X-Padding': fill('x', valueBytes) };
const numbered = (count: number, member: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => member(index)).join();

/** Retried, because a measurement may include a compilation or a garbage collection. */
const measured = { retry: 3 };

describe('a hostile header takes no more CPU time than another', measured, () => {
  it.each([
    ['Content-Type', 'application/json', ' ', 'x'],
    ['Content-Type', 'application/json;', ';', ''],
    ['Content-Type', 'application/json; a="', '\\"', ''],
    ['Content-Type', 'application/json', '; a=b', ''],
    ['Authorization', 'Bearer', ' ', 'a b'],
    ['Authorization', 'Bearer ', 'a', ' b'],
    ['Authorization', 'Bearer a', ' ', 'b'],
    ['Authorization', 'Bearer pets_test_', '0', ''],
    ['Idempotency-Key', '', '!', ' '],
    ['Content-Encoding', '', 'identity,', ''],
  ])('when it is %s: %s, filled with %j', async (name, start, piece, end) => {
    const value = start + fill(piece, valueBytes - start.length - end.length) + end;
    const { headers, ...request } = createRequest(apiKey, { x: 1 });
    const hostile = { ...request, headers: { ...headers, [name]: value } };
    const harmless = { ...request, headers: { ...headers, ...padding } };
    await expectNoSlower(service.createPet, hostile, harmless);
  });

  it('when it comes a thousand times', async () => {
    const values = Array<string>(1_000).fill('Bearer a');
    const hostile = { headers: { Authorization: values } };
    await expectNoSlower(service.listPets, hostile, { headers: { 'X-Padding': values } });
  });

  it.each(['"', '"a', 'W/"a",', ' '])(
    'when it is If-None-Match of a pet that is found, filled with %j',
    async (piece) => {
      const { entityTag } = await import('../../lib/http/entity-tag.ts');
      const { chain } = await import('../../lib/http/chain.ts');
      const handler = chain('test')
        .use(entityTag())
        .handler(async () => ({ statusCode: 200, body: '{}' }));
      const hostile = { headers: { 'If-None-Match': fill(piece, valueBytes) } };
      await expectNoSlower(handler, hostile, { headers: padding });
    },
  );
});

describe('a hostile address takes no more CPU time than another', measured, () => {
  const names = Array.from({ length: 1_500 }, (_, index) => `a${index}`);

  it.each<[kind: string, query: NonNullable<EventParts['query']>]>([
    ['a limit of many digits', { limit: fill('1', valueBytes) }],
    ['a long cursor', { cursor: fill('A', valueBytes) }],
    ['a cursor that is not base64', { cursor: fill('=', valueBytes) }],
    ['a long status', { status: fill('sold', valueBytes) }],
    ['many parameters', Object.fromEntries(names.map((name) => [name, '1']))],
    ['a parameter many times', { limit: names }],
  ])('when it has %s', async (_kind, query) => {
    const harmless = { headers: { ...bearer(apiKey), ...padding }, query: { limit: '0' } };
    await expectNoSlower(service.listPets, { headers: bearer(apiKey), query }, harmless);
  });

  it.each(['9', '/', '%', '0'])('when it has an id of many %j', async (piece) => {
    const hostile = getRequest(apiKey, fill(piece, valueBytes));
    await expectNoSlower(service.getPet, hostile, getRequest(apiKey, 'none'));
  });
});

describe('a hostile body takes no more CPU time than another', measured, () => {
  it.each([
    ['open brackets', fill('[', bodyBytes)],
    ['nested lists', fill('[', bodyBytes / 2) + fill(']', bodyBytes / 2)],
    ['nested objects', `${'{"a":'.repeat(1_300)}1${'}'.repeat(1_300)}`],
    ['small numbers', `[${numbered(4_000, () => '1')}]`],
    ['large numbers', `[${numbered(480, () => '9007199254740993')}]`],
    ['a number of many digits', `{"name":"Rex","categoryId":${fill('9', 8_000)}}`],
    ['a number of many zeros', `{"name":"Rex","categoryId":1e${fill('0', 8_000)}}`],
    ['many fields', `{${numbered(900, (index) => `"a${index}":1`)}}`],
    ['one field many times', `{${numbered(1_300, () => '"a":1')}}`],
    ['forbidden fields', `{${numbered(500, () => '"constructor":1')}}`],
    ['escapes', `{"name":"${fill('\\u0061', 8_100)}","categoryId":1}`],
    ['a name that can not be seen', `{"name":"${fill('\u200b', 2_500)}","categoryId":1}`],
    ['a long name', `{"name":"${fill('🐶', 4_000)}","categoryId":1}`],
    ['backslashes', `"${fill('\\\\', 8_190)}`],
    ['blanks', `${fill(' ', bodyBytes - 1)}x`],
  ])('when it has %s', async (_kind, body) => {
    const request = createRequest(apiKey);
    const letters = fill('a', Math.min(Buffer.byteLength(body), bodyBytes) - 10);
    const harmless = { ...request, body: `{"x":"${letters}"}` };
    await expectNoSlower(service.createPet, { ...request, body }, harmless);
  });

  it.each([
    ['brackets', '[', false],
    ['two-byte characters', 'é', false],
    ['base64', 'A', true],
    ['what is not base64', '!', true],
  ])('when it has 10 MB of %s', async (_kind, piece, isBase64Encoded) => {
    const request = createRequest(apiKey);
    const body = piece.repeat(gatewayBodyBytes / Buffer.byteLength(piece));
    const harmless = { ...request, body: 'a'.repeat(gatewayBodyBytes) };
    await expectNoSlower(service.createPet, { ...request, body, isBase64Encoded }, harmless);
  });
});
