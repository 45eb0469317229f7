import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { tables } from '../../infra/settings/tables.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';
import { ListPetsQuery } from '../../lib/contract/list-pets-query.ts';
import type { Operation } from '../../lib/operations/operation.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import { captureLog, readLines } from '../support/captured-log.ts';
import { bearer, type EventParts, type Example, exampleOf } from '../support/events.ts';
import { awsError, type Fault } from '../support/fault-proxy.ts';
import { fromBundles, startHandlers } from '../support/handlers.ts';
import { withChecksum } from './with-checksum.ts';

/** Made of equal pieces, so that a part of it is recognised too. */
const piece = 'c0ffee5e';
const secret = piece.repeat(8);
const showsSecret = (text: string) => text.toLowerCase().includes(piece);

const markedKey = () => withChecksum(`pets_test_${randomBytes(8).toString('hex')}_${secret}`);
const apiKey = markedKey();
/** Short enough for a name that an error message repeats. */
const partsOfKeys = [`pets_test_${piece}`, `pets_live_${piece}`];
const corruptId = 7;

const service = await startHandlers(fromBundles);
await service.storeApiKey(apiKey, { owner: secret });
const secretPet = { name: secret, categoryId: secret, status: secret };
// DynamoDB refuses text in a key of an index that is a number.
const numberKeys: readonly string[] = tables.pets.indexes
  .flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey])
  .flatMap(({ name, type }) => (type === 'NUMBER' ? [name] : []));
const storable = Object.entries(secretPet).filter(([field]) => !numberKeys.includes(field));
await service.putPet({ id: corruptId, ...Object.fromEntries(storable) });

beforeEach(() => service.proxy.reset());

const get = (petId: number | string): EventParts => ({
  path: { petId },
  headers: bearer(apiKey),
});
const post = (body: string, headers: EventParts['headers'] = {}): EventParts => ({
  method: 'POST',
  headers: { ...bearer(apiKey), ...headers },
  body,
});
const pet = (fields: object) => JSON.stringify({ name: 'Rex', categoryId: 1, ...fields });
const idempotent = (key: string, fields = {}) => post(pet(fields), { 'Idempotency-Key': key });

const credentials = [`Bearer ${markedKey()}`, `Bearer ${apiKey}0`, `Bearer ${secret}`, secret];
const headerNames = [
  ...['User-Agent', 'Cookie', 'X-Amzn-Trace-Id', `X-${secret}`],
  ...['Idempotency-Key', 'Content-Type'],
];
const headers = [
  ...[...credentials, `Basic ${secret}`].map((Authorization) => ({ Authorization })),
  ...headerNames.map((name) => ({ [name]: secret })),
];
const parameters = Object.keys(ListPetsQuery.entries);
const queries = [secret, ...partsOfKeys, ...parameters, 'a'].map((name) => ({
  [name]: secret,
}));
const list: EventParts = { headers: bearer(apiKey) };
const unknownPath: EventParts = { resource: '/{proxy+}' };
/** The items of the examples: each request has its own, which it may change or remove. */
const itemsOfExamples: Example['items'][] = [];
const storeItems = () => Promise.all(itemsOfExamples.map(service.putItems));
const newExample = (operation: Operation): EventParts => {
  const { request, items } = exampleOf(operation, 1_000 + itemsOfExamples.length);
  itemsOfExamples.push(items);
  return { ...request, headers: bearer(apiKey) };
};
const newExamples = () => [...operations.map(newExample), unknownPath];

/** The example bodies of an operation, each once for each of its texts, in whose place it has a secret. */
const bodiesWithSecret = ({ name }: Operation) =>
  Object.values(detailsOf(name).requestBody?.examples ?? {}).flatMap((example) => {
    const body = JSON.stringify(example);
    return [...body.matchAll(/(?<=[:,[])"[^"]*"(?!:)/g)].map(
      ({ index, 0: text }) =>
        `${body.slice(0, index)}"${secret}"${body.slice(index + text.length)}`,
    );
  });

// Each function caches the key before many requests come at once.
for (const parts of newExamples()) await service.send(parts);

/** A request for each place where a client can put a secret, on each route that may read it. */
const requests: readonly EventParts[] = [
  ...headers.flatMap((more) =>
    newExamples().map((parts) => ({ ...parts, headers: { ...parts.headers, ...more } })),
  ),
  ...queries.flatMap((query) => newExamples().map((parts) => ({ ...parts, query }))),
  list,
  get(secret),
  get(corruptId),
  { ...unknownPath, headers: { 'X-Forwarded-For': secret } },
  // The fallback refuses it, also when there is an operation that changes or removes a pet.
  { method: 'POST', path: { petId: secret } },
  idempotent(randomBytes(8).toString('hex') + secret),
  idempotent(secret, { name: secret }),
  idempotent(`${secret} ${secret}`),
  ...[`text/${secret}`, `application/json; charset=${secret}`].map((type) =>
    post(pet({}), { 'Content-Type': type }),
  ),
  post(pet({}), { 'Content-Encoding': secret }),
  ...operations.flatMap((operation) =>
    bodiesWithSecret(operation).map((body) => ({ ...newExample(operation), body })),
  ),
  ...[
    pet({ name: [secret] }),
    pet({ categoryId: secret }),
    ...[secret, ...partsOfKeys].map((name) => pet({ [name]: 1 })),
    pet({ constructor: { prototype: secret } }),
    secret,
    `{"${secret}`,
    `{"name":${secret}}`,
    `${'['.repeat(99)}"${secret}"`,
    secret.repeat(maxBodyBytes / secret.length + 1),
  ].map((body) => post(body)),
];

/** The statuses of all requests. Expects a line for each, and no secret in lines and error responses. */
const statusesOfAll = async () => {
  await storeItems();
  const lines = captureLog();
  const send = async (parts: EventParts, index: number) => {
    const requestId = `request-${index}`;
    return { requestId, ...(await service.send(parts, { requestId })) };
  };
  const responses: Awaited<ReturnType<typeof send>>[] = [];
  // A few at a time: on a busy machine, many requests at once would not end within their second.
  for (let first = 0; first < requests.length; first += 10) {
    const few = requests.slice(first, first + 10);
    responses.push(...(await Promise.all(few.map((each, at) => send(each, first + at)))));
  }
  const refusals = responses.filter(({ status }) => status >= 400);
  const shown = refusals.map(({ headers, text }) => JSON.stringify(headers) + text);
  const reason = 'No log line and no error response may have what a client sent';
  expect([...shown, ...lines].filter(showsSecret), reason).toEqual([]);
  const logged = readLines(lines).map((line) => `${line.lambdaRequestId} ${line.status}`);
  const sent = responses.map(({ requestId, status }) => `${requestId} ${status}`);
  expect(logged.toSorted()).toEqual(sent.toSorted());
  return [...new Set(responses.map(({ status }) => status))].toSorted();
};

describe('a secret that a client sends', () => {
  it('is in no log line and no error response when nothing fails', async () => {
    const successes = operations.map(({ successStatus }) => successStatus);
    const refusals = [400, 401, 404, 405, 413, 415, 422, 500];
    expect(await statusesOfAll()).toEqual([...[...new Set(successes)].toSorted(), ...refusals]);
  });

  it.each<[kind: string, status: number, fault: Fault]>([
    ['a throttling error', 503, awsError(400, 'c.a#ThrottlingException', { message: secret })],
    ['a refusal', 500, awsError(400, 'c.a#AccessDeniedException', { message: secret })],
    ['text that is not JSON', 503, ({ response }) => void response.end(secret)],
  ])('is not logged or returned while DynamoDB repeats it in %s', async (_kind, status, fault) => {
    service.proxy.inject('*', fault);
    expect(await statusesOfAll()).toEqual([400, 401, 404, 405, 413, 415, status]);
  });

  it('is not logged or returned while DynamoDB is out of reach', async () => {
    await service.proxy.refuseConnections();
    expect(await statusesOfAll()).toEqual([400, 401, 404, 405, 413, 415, 503]);
    await service.proxy.listen(service.proxyEndpoint);
  });
});
