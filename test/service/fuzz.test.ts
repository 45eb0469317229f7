import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';
import { maxNameLength } from '../../lib/contract/pet.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import { captureLog } from '../support/captured-log.ts';
import { exampleOf, pathOf } from '../support/events.ts';
import { expectPromised } from '../support/expect-promised.ts';
import { fromBundles, startHandlerGateway, startHandlers } from '../support/handlers.ts';
import { type ClientRequest, sendTo } from '../support/http-client.ts';
import { newPetFields, newPets } from '../support/new-pets.ts';
import { runsOf } from '../support/runs.ts';

const service = await startHandlers(fromBundles);
const { apiKey } = service;
const gateway = await startHandlerGateway(service);

/** The examples of each operation in the contract, with the items that they need. */
const examples = operations.map((operation) => {
  const { example, requestBody } = detailsOf(operation.name);
  const { request, items } = exampleOf(operation, 1);
  const queries = [example.request.query, example.nextPage];
  const bodies = Object.values(requestBody?.examples ?? {});
  return { method: operation.method, path: pathOf(request), queries, bodies, items };
});

afterAll(() => gateway.stop());

const hostileRaw = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.bigInt().map(String),
  fc.double().map(String),
  fc.json(),
  fc.constantFrom(
    ...['', ' ', '\u0000', '\ud800', '\ufeff', '%', '%zz', '%00', '%2e%2e%2f'],
    ...['../../etc/passwd', "' OR 1=1 --", '$(id)', '{{7*7}}', '<script>alert(1)</script>'],
    ...['-0', '1e400', '1E5', '0x10', '1_000', '٣', '9'.repeat(400), '+1', '.5'],
    ...['__proto__', 'constructor', ...Object.keys(newPetFields), apiKey, 'Basic '],
    ...['A'.repeat(3_000), '🐶'.repeat(maxNameLength + 1)],
    ...['[', '{"a":'].map((opening) => opening.repeat(maxBodyBytes / opening.length)),
    ...['"', '\\', '1'].map((character) => character.repeat(200_000)),
  ),
);
const hostile = fc.oneof(
  hostileRaw,
  hostileRaw.map((text) => JSON.stringify(text)),
);

/** The usual value, `weight` times as often as the rare one. */
const usually = <Value>(weight: number, usual: fc.Arbitrary<Value>, rare: fc.Arbitrary<Value>) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });

/** The text of these pieces, some of them replaced by hostile ones. */
const nearly = (...pieces: string[]) =>
  fc
    .tuple(...pieces.map((piece) => usually(20, fc.constant(piece), hostile)))
    .map((texts) => texts.join(''));

// Address and headers stay within the 10,240 bytes that API Gateway reads: it sends a body for
// longer ones, even to HEAD.
const inAddress = (text: string) =>
  text
    .toWellFormed()
    .replace(/[^\w\-.~%!$'()*,;:@{}[\]|^`/?&=]/gu, (character) => encodeURIComponent(character))
    .slice(0, 2_000);
// Spaces at the end are no part of the value (RFC 9110 §5.5).
const inHeader = (text: string) =>
  text
    .replace(/[^\x20-\x7e\xa0-\xff]/g, '')
    .slice(0, 1_200)
    .trim();

const addresses = examples.flatMap(({ path, queries }) =>
  queries.map((query) => `${path}?${new URLSearchParams(query)}`),
);
const path = fc
  .constantFrom(...addresses)
  .chain((address) => nearly(...address.slice(1).split(/([/?=&])/)))
  .map((text) => inAddress(`/${text}`));

/** A header that is usually sent once, and sometimes twice or not at all. */
const header = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) => {
  const pair = fc.tuple(name, value.map(inHeader));
  return usually(12, fc.tuple(pair), fc.array(pair, { maxLength: 2 }));
};
const headers = fc
  .tuple(
    header(fc.constantFrom('Authorization', 'authorization'), nearly('Bearer ', apiKey)),
    header(fc.constant('Content-Type'), nearly('application/json', '; charset=', 'utf-8')),
    header(fc.constantFrom('Idempotency-Key', 'X-Forwarded-For', 'Range', 'Origin'), hostile),
  )
  .map((groups) => groups.flat());

const body = usually<string | Buffer>(
  9,
  fc
    .oneof(newPets, fc.constantFrom(...examples.flatMap(({ bodies }) => bodies)))
    .chain((sent) => nearly(...stringifyJson(sent).split(/([{}:,])/))),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

const reading = fc.record({ method: fc.constantFrom('GET', 'HEAD'), path, headers });
const writing = fc
  .constantFrom(...examples.filter(({ bodies }) => bodies.length > 0))
  .chain(({ method, path }) =>
    fc.record({ method: fc.constant(method), path: fc.constant(path), headers, body }),
  );
const other = fc.record({
  method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE'),
  path,
  headers,
  body: fc.option(body, { nil: undefined }),
});
const request = fc.oneof(reading, reading, writing, writing, other);
const requestsAtOnce = fc.array(request, { minLength: 10, maxLength: 10 });

/** Sends a request and returns its status. Expects a response within the contract. */
const statusOf = async (sent: ClientRequest) => {
  const response = await sendTo(gateway.baseAddress, sent);
  const { status, headers, text } = response;
  expect(status, text).toBeLessThan(500);
  expectPromised(sent, response);
  // A client may give a pet its key as the name. No error may show the key.
  if (status >= 400) expect(JSON.stringify(headers) + text).not.toContain(apiKey);
  return status;
};

it('responds to every request within the contract, without a 5xx or a leak', {
  timeout: 1_200_000,
}, async () => {
  const lines = captureLog();
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(requestsAtOnce, async (requests) => {
      // Each time, because an operation may change or remove them.
      for (const { items } of examples) await service.putItems(items);
      for (const status of await Promise.all(requests.map(statusOf))) seen.add(status);
      const wrong = lines.filter(
        (line) => !line.includes('"level":"INFO"') || line.includes(apiKey),
      );
      expect(wrong).toEqual([]);
      lines.length = 0;
    }),
    { numRuns: runsOf(40, 1_000), includeErrorInReport: true },
  );
  // A service that refuses or accepts everything fails here.
  expect([...seen]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 415]));
});
