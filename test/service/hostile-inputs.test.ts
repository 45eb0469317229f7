import { expect, it } from 'vitest';
import { maxBodyBytes as bodyBytes, maxHeaderBytes } from '../../lib/contract/limits.ts';
import { bearer, creation, type EventParts, eventWith, type Values } from '../support/events.ts';
import { type Handler, lambdaContext, startHandlers } from '../support/handlers.ts';

const gatewayBodyBytes = 10 * 1_024 * 1_024;
/** The size of a hostile value, in bytes. It leaves room for the request's other headers. */
const valueBytes = maxHeaderBytes - 400;

/**
 * How many times the CPU time of a creation a hostile request may take: a client with a key may send
 * creations, so nobody gains anything by requests that cost as much. The slowest ones, a body of the largest
 * size with small numbers and one of 10 MB, take about as long as a creation.
 */
const maxRatio = 3;

const service = await startHandlers();

const fill = (piece: string, bytes: number) => piece.repeat(bytes).slice(0, bytes);
/** A body of the largest size at most, with as many pieces between its start and end as it holds. */
const filled = (start: string, piece: string, end: string) => {
  const room = bodyBytes - Buffer.byteLength(start + end);
  return start + piece.repeat(room / Buffer.byteLength(piece)) + end;
};

const authorization = bearer(service.apiKey);
const headersOfPost = { ...authorization, 'Content-Type': 'application/json' };
const post = creation({ x: 1 }, headersOfPost);

type Case = readonly [what: string, Handler, EventParts];

const headers: readonly Case[] = [
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
].map(([name = '', start = '', piece = '', end = '']) => {
  const value = start + fill(piece, valueBytes - start.length - end.length) + end;
  const hostile = { ...post, headers: { ...post.headers, [name]: value } };
  return [`${name}: ${start}${piece}…${end}`, service.createPet, hostile];
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
  const hostile = { headers: authorization, path: { petId: fill(piece, valueBytes) } };
  return [`the id ${piece}…`, service.getPet, hostile];
});

const bodies = Object.entries({
  'open brackets': fill('[', bodyBytes),
  'nested lists': fill('[', bodyBytes / 2) + fill(']', bodyBytes / 2),
  'small numbers': filled('[', '1,', '1]'),
  'large numbers': filled('[', '9007199254740993,', '1]'),
  'a number of many digits': filled('{"name":"Rex","categoryId":', '9', '}'),
  'a number of many zeros': filled('{"name":"Rex","categoryId":1e', '0', '}'),
  'a fraction of many zeros': filled('{"name":"Rex","categoryId":1.', '0', '1}'),
  'many fields': `{${names.slice(0, bodyBytes / 10).map((name) => `"${name}":1`)}}`,
  'forbidden fields': filled('{', '"constructor":1,', '"constructor":1}'),
  escapes: filled('{"name":"', '\\u0061', '","categoryId":1}'),
  'a long name': filled('{"name":"', '🐶', '","categoryId":1}'),
  backslashes: filled('"', '\\\\', ''),
  blanks: filled('', ' ', 'x'),
}).map(([what, body]): Case => [what, service.createPet, { ...post, body }]);

const largeBody: Case = [
  '10 MB of brackets',
  service.createPet,
  { ...post, body: '['.repeat(gatewayBodyBytes) },
];

/** Returns the CPU time of ten invocations, in µs. */
const cpuTimeOf = async (handler: Handler, parts: EventParts): Promise<number> => {
  const event = eventWith(parts);
  const context = lambdaContext('request-id');
  const before = process.cpuUsage();
  for (let run = 0; run < 10; run += 1) await handler({ ...event }, { ...context });
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const creations: number[] = [];
for (let measurement = 0; measurement < 5; measurement += 1)
  creations.push(await cpuTimeOf(service.createPet, creation(undefined, headersOfPost)));
const cpuTimeOfCreation = Math.min(...creations);

it.each([...headers, ...queries, ...ids, ...bodies, largeBody])(
  'needs about as much CPU time as a creation at most for %s',
  async (_what, handler, parts) => {
    // Measures again for up to 3 s, because a measurement may include a compilation or a garbage collection.
    await expect
      .poll(() => cpuTimeOf(handler, parts), { interval: 0, timeout: 3_000 })
      .toBeLessThan(maxRatio * cpuTimeOfCreation);
  },
);
