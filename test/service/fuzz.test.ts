import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { readStack } from '../../infra/local/stack-definition.ts';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import { petStatuses } from '../../lib/contract/bodies.ts';
import { departuresFromContract } from '../support/contract.ts';
import { startHandlerGateway } from '../support/handler-gateway.ts';
import { captureLog, fromBundles, startHandlers } from '../support/handlers.ts';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';
import { runsOf } from '../support/runs.ts';
import { assemblyDirectory } from '../support/stack.ts';

const apiKey = generateApiKey('pets_test');
const service = await startHandlers(fromBundles);
await service.storeApiKey(apiKey);
const gateway = await startHandlerGateway(await readStack(assemblyDirectory()), service);

afterAll(() => gateway.stop());

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of this process's heap that are still referred to: the functions, and the gateway. */
const heapInUse = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ...['', ' ', '\u0000', '\ud800', '\ufeff', '%', '%zz', '%00', '%2e%2e%2f'],
    ...['../../etc/passwd', "' OR 1=1 --", '$(id)', '{{7*7}}', '<script>alert(1)</script>'],
    ...['__proto__', 'constructor', apiKey, 'A'.repeat(3_000), '🐶'.repeat(300)],
  ),
);

const hostileNumber = fc.oneof(
  fc.bigInt().map(String),
  fc.double().map(String),
  fc.constantFrom('-0', '1e400', '1E5', '0x10', '1_000', '٣', '9'.repeat(400), '١', '+1', '.5'),
);

const weighted = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({
  weight,
  arbitrary,
});

/** Characters that may stand in a request line as they are; everything else is escaped, or cut. */
const inAddress = (text: string) =>
  text
    .toWellFormed()
    .replace(/[^\w\-.~%!$'()*,;:@{}[\]|^`]/gu, (character) => encodeURIComponent(character));

const limit = fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), hostileNumber);
const status = fc.oneof(fc.constantFrom(...petStatuses), hostileText);
const parameter = fc.oneof(
  fc.tuple(fc.constant('limit'), limit),
  fc.tuple(fc.constant('status'), status),
  fc.tuple(fc.constant('cursor'), fc.oneof(fc.base64String(), hostileText)),
  fc.tuple(hostileText, hostileText),
);

const query = fc
  .array(parameter, { maxLength: 3 })
  .map((parameters) => parameters.map((pair) => pair.map(inAddress).join('=')).join('&'))
  .map((text) => text && `?${text}`);

const petId = fc.oneof(fc.maxSafeNat().map(String), hostileNumber, hostileText);
const petPath = petId.map((id) => `/pets/${inAddress(id)}`);
const otherPath = fc
  .array(hostileText, { maxLength: 4 })
  .map((segments) => segments.map((segment) => `/${inAddress(segment)}`).join(''));
const path = fc.oneof(
  weighted(6, fc.constant('/pets')),
  weighted(4, petPath),
  weighted(1, otherPath),
);

// Together within the 10,240 bytes that API Gateway reads: it can't know that what it does not read is a HEAD.
const address = fc.tuple(path, query).map((parts) => parts.join('').slice(0, 2_000));
const visible = (text: string) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, 1_200);

const credentials = fc.oneof(
  hostileText.map((text) => visible(`Bearer ${text}`)),
  hostileText.map(visible),
  fc.constantFrom(`Basic ${apiKey}`, apiKey, `Bearer ${apiKey}0`, `bearer  ${apiKey} `),
);
const mediaType = fc.oneof(
  fc.constantFrom('application/json; charset=utf-8', 'text/plain', 'application/x+json'),
  hostileText.map(visible),
);
const spelling = fc.constantFrom('Authorization', 'authorization', 'AUTHORIZATION');
const otherName = fc.constantFrom(
  ...['Idempotency-Key', 'Accept', 'X-Forwarded-For', 'If-None-Match', 'Range', 'Cookie', 'Origin'],
);
const upToTwo = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(name, value), { maxLength: 2 });
/** Mostly a header as it should be, else what `hostile` makes. */
const usually = (name: string, value: string, hostile: fc.Arbitrary<[string, string][]>) =>
  fc.oneof(weighted(12, fc.constant<[string, string][]>([[name, value]])), weighted(1, hostile));

const headers = fc
  .tuple(
    usually('Authorization', `Bearer ${apiKey}`, upToTwo(spelling, credentials)),
    usually('Content-Type', 'application/json', upToTwo(fc.constant('Content-Type'), mediaType)),
    upToTwo(otherName, hostileText.map(visible)),
  )
  .map((groups) => groups.flat());

const json = (arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((value) => JSON.stringify(value));

const member = fc.oneof(
  fc.tuple(fc.constant('"name"'), json(fc.oneof(fc.string({ unit: 'grapheme' }), hostileText))),
  fc.tuple(fc.constant('"categoryId"'), hostileNumber),
  fc.tuple(fc.constant('"status"'), json(status)),
  fc.tuple(
    fc.oneof(json(hostileText), fc.constantFrom('"name"', '"categoryId"', '"status"')),
    json(fc.jsonValue()),
  ),
);

const nearlyValidBody = fc
  .tuple(fc.maxSafeInteger(), fc.array(member, { maxLength: 3 }))
  .map(([categoryId, members]) => {
    const added = members.map(([name, value]) => `,${name}:${value}`);
    return `{"name":"fuzz","categoryId":${categoryId}${added.join('')}}`;
  });

const repeated = fc
  .tuple(
    fc.constantFrom('[', '{"a":', '"', '\\', ' ', '1'),
    fc.constantFrom(10, 4_096, 9_000, 200_000),
  )
  .map(([piece, times]) => piece.repeat(times));

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const body = fc.oneof(
  weighted(8, nearlyValidBody),
  weighted(1, fc.json()),
  weighted(1, hostileText),
  weighted(1, bytes),
  weighted(1, repeated),
);

const method = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE');
const optionalBody = fc.option(body, { nil: undefined });
const reading = fc.record({ method: fc.constantFrom('GET', 'HEAD'), path: address, headers });
const creation = fc.record({
  method: fc.constant('POST'),
  path: fc.constant('/pets'),
  headers,
  body,
});
const other = fc.record({ method, path: address, headers, body: optionalBody });
const request = fc.oneof(weighted(5, reading), weighted(5, creation), weighted(2, other));

const expectWithinContract = (sent: ClientRequest, response: ClientResponse) => {
  const { status, headers, text } = response;
  expect(status, text).toBeLessThan(500);
  expect(departuresFromContract(sent, response)).toEqual([]);
  // A pet may be named like the key, by its holder; nothing else may show it.
  if (status >= 400) expect(JSON.stringify(headers) + text).not.toContain(apiKey);
};

it('answers every request within the contract, without a 5xx or a leak', {
  timeout: 1_200_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  console.info(`fast-check seed of the fuzzed requests: ${seed}`);
  const lines = captureLog();
  const requestsAtOnce = 10;
  const runs = runsOf(40, 1_000);
  const seen = new Set<number>();
  const heap: number[] = [];
  let batches = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: requestsAtOnce, maxLength: requestsAtOnce }),
      async (requests) => {
        const responses = await Promise.all(
          requests.map((each) => sendTo(gateway.baseAddress, each)),
        );
        for (const [index, response] of responses.entries()) {
          expectWithinContract(requests[index] ?? { path: '' }, response);
          seen.add(response.status);
        }
        const wrong = lines.filter(
          (line) => !line.startsWith('{"level":"INFO"') || line.includes(apiKey),
        );
        expect(wrong).toEqual([]);
        lines.length = 0;
        if (++batches % (runs / 20) === 0) heap.push(heapInUse());
      },
    ),
    { numRuns: runs, seed, includeErrorInReport: true },
  );
  // A service that refuses or accepts everything fails here.
  expect([...seen]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 415]));
  expect(heap).toHaveLength(20);
  const settled = Math.max(...heap.slice(0, 10));
  expect(heap.at(-1)).toBeLessThan(settled + 10 * 1_024 * 1_024);
});
