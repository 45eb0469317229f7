import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts';
import { KeyAdministration } from '../../lib/keys/key-administration.ts';
import { awsError, type Fault, FaultProxy } from '../support/fault-proxy.ts';
import { withChecksum } from '../support/guessed-key.ts';
import { readLines } from '../support/handlers.ts';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';

/** Each piece of it is the same, so that it is recognised when it is cut. */
const piece = 'c0ffee5e';
const secret = piece.repeat(8);
const showsSecret = (text: string) => text.toLowerCase().includes(piece);

const markedKey = () => withChecksum(`pets_test_${randomBytes(8).toString('hex')}_${secret}`);
const apiKey = markedKey();

let proxy: FaultProxy;
let proxyEndpoint: string;
let service: LocalService;
let dynamodb: DynamoDBDocumentClient;
const corruptId = randomBytes(4).readUInt32BE() + 1;
const printed: string[] = [];

beforeAll(async () => {
  const dynamodbEndpoint = inject('dynamodb')?.dynamodbEndpoint ?? '';
  proxy = new FaultProxy(dynamodbEndpoint);
  proxyEndpoint = await proxy.listen();
  service = await startLocalService({
    dynamodbEndpoint,
    assembly: inject('assembly'),
    functionsDynamodbEndpoint: proxyEndpoint,
    log: (line) => printed.push(line),
  });
  dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient(localClientConfig(dynamodbEndpoint)));
  await new KeyAdministration(dynamodb, tableName('KEYS_TABLE')).register(
    apiKey,
    'pets_test',
    secret,
  );
  await dynamodb.send(
    new PutCommand({
      TableName: tableName('PETS_TABLE'),
      Item: { id: corruptId, name: secret, categoryId: secret, status: secret },
    }),
  );
});

afterAll(async () => {
  dynamodb.destroy();
  await service.stop();
  await proxy.refuseConnections();
});

beforeEach(() => {
  printed.length = 0;
});

afterEach(() => {
  proxy.reset();
});

const tableName = (variable: string) => service.tables[variable]?.TableName ?? '';

const authorized = ['Authorization', `Bearer ${apiKey}`] as const;
const jsonType = ['Content-Type', 'application/json'] as const;

const get = (path: string, ...headers: (readonly [string, string])[]): ClientRequest => ({
  path,
  headers: [authorized, ...headers],
});
const post = (body: string | Buffer, ...headers: (readonly [string, string])[]): ClientRequest => ({
  method: 'POST',
  path: '/pets',
  headers: [authorized, ...(headers.length > 0 ? headers : [jsonType])],
  body,
});
const pet = (fields: object) => JSON.stringify({ name: 'Rex', categoryId: 1, ...fields });

const paths = ['/pets', '/pets/1', '/toys'];

/** A request for each place where a client can put a secret, on each route that reads it, or might. */
const requests = (): readonly ClientRequest[] => [
  ...paths.flatMap((path) => [
    get(path),
    ...[
      `Bearer ${markedKey()}`,
      `Bearer ${apiKey}0`,
      `Bearer ${secret}`,
      `Basic ${secret}`,
      secret,
    ].map((credentials) => ({ path, headers: [['Authorization', credentials] as const] })),
    ...[
      `${secret}=1`,
      `limit=${secret}`,
      `status=${secret}`,
      `cursor=${secret}`,
      `a=${secret}`,
    ].map((query) => get(`${path}?${query}`)),
    ...[
      'User-Agent',
      'Cookie',
      'Referer',
      'X-Forwarded-For',
      'X-Amzn-Trace-Id',
      'X-Amzn-RequestId',
      'Idempotency-Key',
      'Content-Type',
      `X-${secret}`,
    ].map((name) => get(path, [name, secret])),
    get(path, ['X-Amzn-Trace-Id', `Root=${secret};Sampled=1`]),
  ]),
  get(`/pets/${secret}`),
  get(`/pets/${corruptId}`),
  get(`/${secret}`),
  get(`/pets/1/${secret}?${secret}=${secret}`),
  { ...get(`/pets/${secret}`), method: 'DELETE' },
  { ...post(pet({})), path: `/pets?${secret}=${secret}` },
  post(pet({ name: secret })),
  post(pet({}), jsonType, ['Idempotency-Key', randomBytes(8).toString('hex') + secret]),
  post(pet({}), jsonType, ['Idempotency-Key', secret]),
  post(pet({ name: secret }), jsonType, ['Idempotency-Key', secret]),
  post(pet({}), jsonType, ['Idempotency-Key', `${secret} ${secret}`]),
  post(pet({}), ['Content-Type', `text/${secret}`]),
  post(pet({}), ['Content-Type', `application/json; charset=${secret}`]),
  post(pet({ name: [secret] })),
  post(pet({ categoryId: secret })),
  post(pet({ status: secret })),
  post(pet({ [secret]: 1 })),
  post(pet({ constructor: { prototype: secret } })),
  post(secret),
  post(`{"${secret}`),
  post(`{"name":${secret}}`),
  post(`${'['.repeat(99)}"${secret}"`),
  post(secret.repeat(200)),
  post(Buffer.concat([Buffer.from(secret), Buffer.from([0xff, 0xfe])])),
];

const everywhere = (fault: Fault) => {
  for (const call of ['GetItem', 'Query', 'PutItem']) {
    for (const table of ['KEYS_TABLE', 'PETS_TABLE']) {
      proxy.inject(`${call} ${tableName(table).split('-')[0]}`, fault);
    }
  }
};

/** What a client is shown of an answer, apart from the trace id, which API Gateway gives back as it came. */
const shownBy = ({ headers, text }: ClientResponse) => {
  const { 'x-amzn-trace-id': _ownTraceId, ...others } = headers;
  return JSON.stringify(others) + text;
};

const sendAll = () => Promise.all(requests().map((sent) => sendTo(service.baseAddress, sent)));

/** Holds error responses and the log to showing no secret, and the log to one line for each response. */
const expectNoSecret = async (responses: readonly ClientResponse[]) => {
  const shown = responses.filter(({ status }) => status >= 400).map(shownBy);
  expect(shown.filter(showsSecret)).toEqual([]);
  await expect.poll(() => printed.length, { timeout: 10_000 }).toBe(responses.length);
  expect(printed.filter(showsSecret)).toEqual([]);
  const logged = readLines(printed).map(({ requestId, status, Requests }) => {
    expect(Requests).toBe(1);
    return `${requestId} ${status}`;
  });
  const sent = responses.map(({ headers, status }) => `${headers['x-amzn-requestid']} ${status}`);
  expect(logged.toSorted()).toEqual(sent.toSorted());
};

const statusesOf = (responses: readonly ClientResponse[]) =>
  [...new Set(responses.map(({ status }) => status))].toSorted();

describe('a secret that a client sends is in no log line and no error response', () => {
  it('when nothing fails', async () => {
    const responses = await sendAll();
    expect(statusesOf(responses)).toEqual([200, 201, 400, 401, 404, 405, 413, 415, 422, 500]);
    await expectNoSecret(responses);
  });

  it('while DynamoDB is out of reach', async () => {
    await proxy.refuseConnections();
    const responses = await sendAll();
    await proxy.listen(proxyEndpoint);
    expect(statusesOf(responses)).toEqual([400, 401, 404, 405, 413, 415, 503]);
    await expectNoSecret(responses);
  });

  it.each<{ kind: string; status: number; fault: Fault }>([
    {
      kind: 'a throttling error',
      status: 503,
      fault: awsError(400, 'c.a#ThrottlingException', { message: secret }),
    },
    {
      kind: 'a refusal',
      status: 500,
      fault: awsError(400, 'c.a#AccessDeniedException', { message: secret }),
    },
    {
      kind: 'text that is not JSON',
      status: 503,
      fault: ({ response }) => void response.end(secret),
    },
  ])('while DynamoDB repeats it in $kind', async ({ status, fault }) => {
    everywhere(fault);
    const responses = await sendAll();
    expect(statusesOf(responses)).toEqual([400, 401, 404, 405, 413, 415, status]);
    await expectNoSecret(responses);
  });
});
