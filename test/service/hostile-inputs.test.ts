import { expect, it } from 'vitest';
import { maxBodyBytes as bodyBytes } from '../../lib/contract/limits.ts';
import type { Handler } from '../support/load-handlers.ts';
import { type EventParts, lambdaContext, proxyEvent, type Values } from '../support/proxy-event.ts';
import { bearer, createRequest } from '../support/requests.ts';
import { startHandlers } from '../support/start-handlers.ts';

/**
 * The size of headers that API Gateway accepts, in bytes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const headerBytes = 10_240;
const gatewayBodyBytes = 10 * 1_024 * 1_024;
/** The size of a hostile value, in bytes. It leaves room for the request's other headers. */
const valueBytes = headerBytes - 400;

/** The most CPU time that a request may take, in ms. Quadratic time would take several times as long. */
const maxCpuMs = 20;

const service = await startHandlers();

const fill = (piece: string, bytes: number) => piece.repeat(bytes).slice(0, bytes);
/** A body of the largest size at most, with as many pieces between its start and end as it holds. */
const filled = (start: string, piece: string, end: string) => {
  const room = bodyBytes - Buffer.byteLength(start + end);
  return start + piece.repeat(room / Buffer.byteLength(piece)) + end;
};

const authorization = bearer(service.apiKey);
const post = createRequest(service.apiKey, { x: 1 });

type Case = readonly [what: string, Handler, EventParts];

const headers = [
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
].map(([name = '', start = '', piece = '', end = '']): Case => {
  const value = start + fill(piece, valueBytes - start.length - end.length) + end;
  const parts = { ...post, headers: { ...post.headers, [name]: value } };
  return [`${name}: ${start}${piece}…${end}`, service.createPet, parts];
});

const names = Array.from({ length: 1_500 }, (_, index) => `a${index}`);
const queries = Object.entries<Values>({
  'a limit of many digits': { limit: fill('1', valueBytes) },
  'a long cursor': { cursor: fill('A', valueBytes) },
  'a long status': { status: fill('sold', valueBytes) },
  'many parameters': Object.fromEntries(names.map((name) => [name, '1'])),
  'a parameter many times': { limit: names },
}).map(([what, query]): Case => [what, service.listPets, { headers: authorization, query }]);

const ids = ['9', '0'].map((piece): Case => {
  const parts = { headers: authorization, petId: fill(piece, valueBytes) };
  return [`the id ${piece}…`, service.getPet, parts];
});

const bodies = Object.entries({
  'open brackets': fill('[', bodyBytes),
  'nested lists': fill('[', bodyBytes / 2) + fill(']', bodyBytes / 2),
  'small numbers': filled('[', '1,', '1]'),
  'large numbers': filled('[', '9007199254740993,', '1]'),
  'a number of many digits': filled('{"name":"Rex","categoryId":', '9', '}'),
  'a number of many zeros': filled('{"name":"Rex","categoryId":1e', '0', '}'),
  'many fields': `{${names.slice(0, bodyBytes / 10).map((name) => `"${name}":1`)}}`,
  'forbidden fields': filled('{', '"constructor":1,', '"constructor":1}'),
  escapes: filled('{"name":"', '\\u0061', '","categoryId":1}'),
  'a long name': filled('{"name":"', '🐶', '","categoryId":1}'),
  backslashes: filled('"', '\\\\', ''),
  blanks: filled('', ' ', 'x'),
  '10 MB of brackets': fill('[', gatewayBodyBytes),
}).map(([what, body]): Case => [what, service.createPet, { ...post, body }]);

/** Returns the CPU time of an invocation in ms: the least of five, because one may include a compilation. */
const cpuMsOf = async (handler: Handler, parts: EventParts): Promise<number> => {
  const event = proxyEvent(parts);
  const times: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const before = process.cpuUsage();
    await handler({ ...event }, lambdaContext('request-id'));
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
};

it.each([...headers, ...queries, ...ids, ...bodies])(
  'needs less than quadratic CPU time for %s',
  async (_what, handler, parts) => {
    expect(await cpuMsOf(handler, parts)).toBeLessThan(maxCpuMs);
  },
);
