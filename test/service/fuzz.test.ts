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

/** Now and then what `rare` makes, else what `usual` makes. */
const usually = <Usual, Rare>(usual: fc.Arbitrary<Usual>, rare: fc.Arbitrary<Rare>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: rare });

/** Characters that may stand in a request line as they are; everything else is escaped, or cut. */
const inAddress = (text: string) =>
  text
    .toWellFormed()
    .replace(/[^\w\-.~%!$'()*,;:@{}[\]|^`]/gu, (character) => encodeURIComponent(character));

const parameter = fc.oneof(
  fc.tuple(
    fc.constant('limit'),
    fc.oneof(fc.integer({ min: -1, max: 102 }).map(String), hostileNumber),
  ),
  fc.tuple(fc.constant('status'), fc.oneof(fc.constantFrom(...petStatuses), hostileText)),
  fc.tuple(fc.constant('cursor'), fc.oneof(fc.base64String(), hostileText)),
  fc.tuple(hostileText, hostileText),
);

const query = fc
  .array(parameter, { maxLength: 3 })
  .map((parameters) => parameters.map((pair) => pair.map(inAddress).join('=')).join('&'))
  .map((text) => text && `?${text}`);

const path = fc.oneof(
  { weight: 6, arbitrary: fc.constant('/pets') },
  {
    weight: 4,
    arbitrary: fc
      .oneof(fc.maxSafeNat().map(String), hostileNumber, hostileText)
      .map((id) => `/pets/${inAddress(id)}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(hostileText, { maxLength: 4 })
      .map((segments) => segments.map((segment) => `/${inAddress(segment)}`).join('')),
  },
);

const visible = (text: string) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, 4_000);

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
const once = (name: string, value: string) => fc.constant<[string, string][]>([[name, value]]);

const headers = fc
  .tuple(
    usually(once('Authorization', `Bearer ${apiKey}`), upToTwo(spelling, credentials)),
    usually(
      once('Content-Type', 'application/json'),
      upToTwo(fc.constant('Content-Type'), mediaType),
    ),
    upToTwo(otherName, hostileText.map(visible)),
  )
  .map((groups) => groups.flat());

const json = (arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((value) => JSON.stringify(value));

const member = fc.oneof(
  fc.tuple(fc.constant('"name"'), json(fc.oneof(fc.string({ unit: 'grapheme' }), hostileText))),
  fc.tuple(fc.constant('"categoryId"'), hostileNumber),
  fc.tuple(fc.constant('"status"'), json(fc.oneof(fc.constantFrom(...petStatuses), hostileText))),
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

const body = fc.oneof(
  { weight: 8, arbitrary: nearlyValidBody },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: repeated },
);

/** A percent sign that starts no escape, which API Gateway refuses. */
const strayPercent = /%(?![\da-f]{2})/gi;
const address = fc.tuple(path, query).map((parts) => parts.join(''));
const otherMethod = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE');

const request = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ method: fc.constantFrom('GET', 'HEAD'), path: address, headers }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      method: fc.constant('POST'),
      path: fc.constant('/pets'),
      headers,
      body,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      method: otherMethod,
      // The document has no 400 for these methods.
      path: address.map((text) => text.replace(strayPercent, '%25')),
      headers,
      body: fc.option(body, { nil: undefined }),
    }),
  },
);

/** The statuses that the contract, as the README fills its gaps, has for a request. */
const statusesFor = (sent: ClientRequest): readonly number[] => {
  const { path, headers: sentHeaders = [] } = sent;
  if (path.search(strayPercent) >= 0) return [400];
  // API Gateway takes at most 10,240 bytes of address and headers; some are the test's own.
  const isLarge = path.length + sentHeaders.flat().join('').length > 9_500;
  return isLarge ? [400, ...routedStatusesFor(sent)] : routedStatusesFor(sent);
};

const routedStatusesFor = ({ method, path }: ClientRequest): readonly number[] => {
  // Slashes after the stage count as one (aws-recorded.md, row 16).
  const address = path.replace(/^\/+/, '/');
  const [, isCollection, isPet] = /^(?:(\/pets)|(\/pets\/[^/?]+))\/?(?:\?|$)/.exec(address) ?? [];
  const isRead = method === 'GET' || method === 'HEAD';
  if (isCollection && isRead) return [200, 400, 401];
  if (isCollection && method === 'POST') return [201, 400, 401, 413, 415, 422];
  if (isPet && isRead) return [200, 304, 400, 401, 404];
  if ((isCollection || isPet) && method === 'OPTIONS') return [204];
  // API Gateway has a route for the seven methods of REST; where it has none it refuses the request, as it refuses a Bearer token there.
  const isRouted = !['TRACE', 'PURGE'].includes(method ?? 'GET');
  return (isCollection || isPet) && isRouted ? [405] : [400, 404];
};

const expectWithinContract = (sent: ClientRequest, response: ClientResponse) => {
  const { status, headers, text } = response;
  expect(statusesFor(sent), `${status} ${text}`).toContain(status);
  expect(departuresFromContract(sent, response)).toEqual([]);
  // A pet may be named like the key, by whoever has it; nothing else may show it.
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
