import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { expect, inject, vi } from 'vitest';
import { bundleDirectory } from '../../infra/lambda/bundle-functions.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localCredentials, localRegion } from '../../infra/local/local-account.ts';
import { generateApiKey, identifyApiKey } from '../../lib/contract/api-key.ts';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { OperationContext } from '../../lib/http/operation-request.ts';
import type { ApiKeyRecord } from '../../lib/keys/api-key-record.ts';
import { readMetrics } from './embedded-metric-format.ts';
import { FaultProxy } from './fault-proxy.ts';
import {
  type EventParts,
  lambdaContext,
  proxyEvent,
  resourceOf,
  type Values,
} from './proxy-event.ts';

export type Handler = (
  event: APIGatewayProxyEvent,
  context: OperationContext,
) => Promise<APIGatewayProxyResult>;

/** Fields of a stored API key, of the wrong type where a test is about that. */
type RecordParts = Partial<Record<keyof ApiKeyRecord, unknown>>;

export type HandlerName = 'listPets' | 'createPet' | 'getPet' | 'unrouted';
export type Handlers = Readonly<Record<HandlerName, Handler>>;

type Load = (bundle: string) => Promise<{ readonly handler: Handler }>;

const fromSources: Load = (bundle) => import(`../../functions/${bundle}.ts`);

/** The handlers as they are deployed. */
export const fromBundles: Load = async (bundle) =>
  createRequire(import.meta.url)(join(bundleDirectory(bundle), `${bundle}.cjs`));

/** Loads the handlers, which read the environment variables as they are now. */
export const loadHandlers = async (load = fromSources): Promise<Handlers> => ({
  listPets: (await load('list-pets')).handler,
  createPet: (await load('create-pet')).handler,
  getPet: (await load('get-pet')).handler,
  unrouted: (await load('unrouted')).handler,
});

/**
 * Loads the handlers into this process, with tables of their own behind a fault proxy.
 * Call it once in a test file: the modules read their environment when they are loaded.
 */
export const startHandlers = async (load = fromSources) => {
  const local = inject('dynamodb');
  if (!local) throw new Error('These tests need DynamoDB Local: unset BASE_URL');
  const proxy = new FaultProxy(local.dynamodbEndpoint);
  const proxyEndpoint = await proxy.listen();
  const suffix = randomBytes(8).toString('hex');
  const tables = { pets: `Pets-${suffix}`, keys: `Keys-${suffix}` };
  Object.assign(process.env, {
    AWS_REGION: localRegion,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: proxyEndpoint,
    PETS_TABLE: tables.pets,
    KEYS_TABLE: tables.keys,
    API_KEY_PREFIX: 'pets_test',
    SERVICE_NAME: 'animal-store-test',
    AWS_LAMBDA_FUNCTION_VERSION: '42',
  });
  // Discards the log lines of tests that don't capture them.
  process.stdout.write = () => true;
  const client = new DynamoDBClient({ endpoint: local.dynamodbEndpoint });
  const definitions = Object.entries(local.tables).map(([variable, table]) => {
    return { ...table, TableName: `${process.env[variable]}` };
  });
  await createTables(client, definitions);
  const dynamodb = DynamoDBDocument.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });

  /** Puts an item into the pets table. */
  const putPet = (Item: Record<string, unknown>) => dynamodb.put({ TableName: tables.pets, Item });

  /** Puts a key into the keys table; `record` replaces the fields that the test is about. */
  const storeApiKey = async (apiKey: string, record: RecordParts = {}) => {
    const Item = {
      ...identifyApiKey(apiKey, 'pets_test'),
      owner: 'test',
      lastFour: apiKey.slice(-4),
      createdAt: '2026-01-01T00:00:00Z',
      ...record,
    };
    await dynamodb.put({ TableName: tables.keys, Item });
    return apiKey;
  };
  const issueApiKey = (record?: RecordParts) => storeApiKey(generateApiKey('pets_test'), record);

  /** Every item of the pets table. */
  const storedPets = async () => {
    const { Items = [] } = await dynamodb.scan({ TableName: tables.pets, ConsistentRead: true });
    return Items;
  };

  const handlers = await loadHandlers(load);
  const apiKey = await issueApiKey();
  return {
    dynamodb,
    proxy,
    proxyEndpoint,
    tables,
    storeApiKey,
    issueApiKey,
    apiKey,
    ...handlers,
    send: senderTo(handlers, apiKey),
    putPet,
    storedPets,
    deletePets: async () => {
      for (const { id } of await storedPets()) {
        await dynamodb.delete({ TableName: tables.pets, Key: { id } });
      }
    },
  };
};

export interface InvokeOptions {
  readonly requestId?: string;
  readonly remainingMs?: number;
}

/** Runs a handler as Lambda does; `body` is the parsed body of its response. */
export const invoke = async (
  handler: Handler,
  parts: EventParts,
  { requestId = 'request-id', remainingMs = 10_000 }: InvokeOptions = {},
) => {
  const context = lambdaContext(requestId, remainingMs);
  const { statusCode: status, headers, body: text } = await handler(proxyEvent(parts), context);
  const body = text === '' ? undefined : JSON.parse(text);
  return { status, headers: { ...headers }, body, text };
};

/**
 * Sends requests to the handlers that API Gateway routes them to. By default a request has the API key, and with a body
 * the type JSON; a header without values is left out.
 */
export const senderTo = (handlers: Handlers, apiKey: string) => {
  const { listPets, createPet, getPet, unrouted } = handlers;
  const routes = new Map([
    ['GET /pets', listPets],
    ['HEAD /pets', listPets],
    ['POST /pets', createPet],
    ['GET /pets/{petId}', getPet],
    ['HEAD /pets/{petId}', getPet],
  ]);
  return (parts: EventParts = {}, options?: InvokeOptions) => {
    const { method = 'GET', resource = resourceOf(parts), body } = parts;
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const headers = { ...bearer(apiKey), ...json, ...parts.headers };
    return invoke(routes.get(`${method} ${resource}`) ?? unrouted, { ...parts, headers }, options);
  };
};

type Send = ReturnType<typeof senderTo>;

export const bearer = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` });

/** A valid `POST /pets` for `send`, which adds the API key. */
export const creation = (
  pet: unknown = { name: 'Rex', categoryId: 1 },
  headers: Values = {},
): EventParts => ({ method: 'POST', headers, body: stringifyJson(pet) });

/** A valid `POST /pets` for `invoke`, with the API key. */
export const createRequest = (apiKey: string, pet?: unknown, headers?: Values) =>
  creation(pet, { ...bearer(apiKey), 'Content-Type': 'application/json', ...headers });

export const getRequest = (apiKey: string, id: number | string): EventParts => ({
  petId: `${id}`,
  headers: bearer(apiKey),
});

/** Reads a page of a list, and the query of the next page from its Link (RFC 8288). */
export const readPage = async (send: Send, query: Values, options?: InvokeOptions) => {
  const response = await send({ query }, options);
  expect(response.status).toBe(200);
  const link = response.headers['Link'];
  if (link === undefined) return { ...response, next: undefined };
  const target = /^<\/v1\/pets\?([^>]+)>; rel="next"$/.exec(`${link}`)?.[1];
  expect(target).toBeDefined();
  return { ...response, next: Object.fromEntries(new URLSearchParams(target)) };
};

/** Reads all pages of a list: the one of a query, and then those that the links lead to. */
export const walkPages = async (send: Send, query: Values | undefined) => {
  const pages: Awaited<ReturnType<typeof readPage>>[] = [];
  for (let next = query; next; next = pages.at(-1)?.next) pages.push(await readPage(send, next));
  return pages;
};

/** Captures each line that is printed until the test ends. */
export const captureLog = () => {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(...`${chunk}`.split('\n').filter((line) => line !== ''));
      return true;
    });
  }
  return lines;
};

/** Reads printed lines. Expects each to be the line of a request. */
export const readLines = (lines: readonly string[]) =>
  lines.map((text) => {
    const line = JSON.parse(text);
    readMetrics(line);
    expect(line).toMatchObject({ operation: expect.any(String), status: expect.any(Number) });
    return line;
  });

/** Expects one line, with these fields and without anything that must not leak. */
export const expectOneFailure = (lines: readonly string[], expected: object) => {
  expect(readLines(lines)).toMatchObject([{ level: 'ERROR', ...expected }]);
  expect(lines.join()).not.toMatch(/TABLE-AND-KEY-TEXT|pets_test_|\\n\s+at |node_modules/);
};
