import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errors } from '../../lib/contract/errors.ts';
import { proxyEvent } from '../support/proxy-event.ts';
import { buildContenders, type ContenderName, type Contenders } from './contenders.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { runLambda } from './lambda-process.ts';
import { type RequestName, requestNames, requests } from './requests.ts';

let directory: string;
let contenders: Contenders;
let standIn: DynamodbStandIn;
/** What the service answers. */
const expected = new Map<RequestName, Awaited<ReturnType<typeof answerOf>>>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'animal-store-peers-'));
  standIn = await DynamodbStandIn.start();
  contenders = await buildContenders(directory, { peers: true });
  for (const request of requestNames) {
    expected.set(request, await answerOf('service', request));
    expect(expected.get(request)?.statusCode).toBeLessThan(300);
  }
});

afterAll(async () => {
  await standIn[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** Status and body of an answer; a new pet's id is another every time. */
const answerOf = async (
  name: ContenderName,
  request: RequestName,
  event: APIGatewayProxyEvent = requests(standIn.apiKey)[request],
) => {
  const { invocations } = await runLambda({
    module: contenders[name].moduleFor(request),
    environment: standIn.environment,
    events: [event],
  });
  const [{ statusCode, body } = { statusCode: 0, body: '{}' }] = invocations;
  const parsed = JSON.parse(body);
  return { statusCode, body: request === 'createPet' ? { ...parsed, id: 'any' } : parsed };
};

const peers = ['hono', 'powertools', 'express', 'fastify'] as const;

describe.each([...peers, 'bare'] as const)('%s', (name) => {
  it.each(requestNames)('answers %s as the service does', async (request) => {
    expect(await answerOf(name, request)).toEqual(expected.get(request));
  });
});

describe.each(peers)('%s', (name) => {
  it('refuses a key that is none, as the service does', async () => {
    const headers = { Authorization: 'Bearer nonsense' };
    const event = proxyEvent({ resource: '/pets/{petId}', petId: '1', headers });
    const { body } = errors.unauthorized();
    expect(await answerOf(name, 'getPet', event)).toEqual({ statusCode: 401, body });
  });

  it('refuses what is no pet', async () => {
    const headers = {
      Authorization: `Bearer ${standIn.apiKey}`,
      'Content-Type': 'application/json',
      'Content-Length': '10',
    };
    const event = proxyEvent({ method: 'POST', headers, body: '{"name":5}' });
    expect(await answerOf(name, 'createPet', event)).toMatchObject({
      statusCode: 400,
      body: { code: 'invalid_request', status: 400 },
    });
  });
});
