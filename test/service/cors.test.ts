import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { FunctionFleet } from '../../infra/local/lambda/function-fleet.ts';
import { stackDefinitionOf } from '../../infra/local/stack-definition.ts';
import { staging } from '../../infra/stages.ts';
import { parseTemplate } from '../../infra/template/template.ts';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';
import { templateOf } from '../support/stack.ts';

const store = 'https://store.example';
const admin = 'http://localhost:5173';

/** The bundles behind a gateway, as the stack of a stage with these origins declares them, on the tables of the local service. */
const startWith = async (corsOrigins: readonly string[]) => {
  const template = JSON.stringify(templateOf({ ...staging, corsOrigins }).toJSON());
  const { api, functions: definitions } = stackDefinitionOf(parseTemplate(template));
  const fleet = new FunctionFleet({
    environment: { AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb')?.dynamodbEndpoint ?? '' },
    log: () => {},
  });
  const { functions } = await fleet.update(definitions);
  const gateway = await startGateway({ port: 0, log: () => {} });
  gateway.deploy({ api, functions });
  return {
    baseAddress: `${gateway.origin}/${api.stageName}`,
    stop: async () => {
      await gateway.stop();
      await fleet.terminate();
    },
  };
};

let ofOne: Awaited<ReturnType<typeof startWith>>;
let ofTwo: Awaited<ReturnType<typeof startWith>>;

beforeAll(async () => {
  ofOne = await startWith([store]);
  ofTwo = await startWith([store, admin]);
});

afterAll(async () => {
  await ofOne.stop();
  await ofTwo.stop();
});

const authorization = ['Authorization', `Bearer ${inject('apiKey')}`] as const;
const preflight = ['Access-Control-Request-Method', 'POST'] as const;
const pet = '{"name":"Rex","categoryId":1}';

type Headers = NonNullable<ClientRequest['headers']>;

const from = (origin: string | undefined, request: ClientRequest, extra: Headers = []) => ({
  ...request,
  headers: [
    ...(request.headers ?? [authorization]),
    ...extra,
    ...(origin === undefined ? [] : [['Origin', origin] as const]),
  ],
});

const corsHeadersOf = ({ headers }: ClientResponse) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-')),
  );

const readable = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers':
    'Allow, Deprecation, ETag, Link, Retry-After, Sunset, x-amzn-RequestId',
});

/** A request for each kind of answer that a function gives. */
const answers: readonly (readonly [status: number, request: ClientRequest])[] = [
  [200, { path: '/pets?limit=1' }],
  [200, { method: 'HEAD', path: '/pets?limit=1' }],
  [
    201,
    {
      method: 'POST',
      path: '/pets',
      headers: [authorization, ['Content-Type', 'application/json']],
      body: pet,
    },
  ],
  [204, { method: 'OPTIONS', path: '/pets', headers: [] }],
  [400, { path: '/pets?limit=0' }],
  [401, { path: '/pets', headers: [['Authorization', 'Bearer stranger']] }],
  [404, { path: '/pets/1' }],
  [404, { path: '/cats' }],
  [405, { method: 'DELETE', path: '/pets' }],
  [415, { method: 'POST', path: '/pets', body: 'Rex' }],
];

describe('with CORS for some origins', () => {
  it.each(answers)(
    'lets pages of each read the answer %i to %j, and no other page',
    async (status, request) => {
      for (const origin of [store, admin]) {
        const response = await sendTo(ofTwo.baseAddress, from(origin, request));
        expect(response.status).toBe(status);
        expect(corsHeadersOf(response)).toEqual(readable(origin));
        expect(response.headers['vary']).toBe('Origin');
      }
      const other = await sendTo(ofTwo.baseAddress, from('https://other.example', request));
      expect(other.status).toBe(status);
      expect(corsHeadersOf(other)).toEqual({});
      expect(other.headers['vary']).toBe('Origin');
    },
  );

  it.each([
    ['absent', undefined],
    ['null', 'null'],
    ['in capitals', 'https://STORE.example'],
    ['followed by a slash', `${store}/`],
    ['of another scheme', 'http://store.example'],
    ['of another port', `${store}:8443`],
    ['the start of another host', `${store}.evil.example`],
    ['two at once', `${store} ${admin}`],
  ])('takes an Origin that is %s for none of them', async (_kind, origin) => {
    const response = await sendTo(ofTwo.baseAddress, from(origin, { path: '/pets?limit=1' }));
    expect(response.status).toBe(200);
    expect(corsHeadersOf(response)).toEqual({});
  });

  it.each([
    ['/pets', 'GET, HEAD, POST, OPTIONS'],
    ['/pets/1', 'GET, HEAD, OPTIONS'],
  ])(
    'tells a browser that asks first what it may send to %s, without a key',
    async (path, methods) => {
      const request = { method: 'OPTIONS', path, headers: [preflight] };
      const response = await sendTo(ofTwo.baseAddress, from(admin, request));
      expect(response.status).toBe(204);
      expect(response.text).toBe('');
      expect(response.headers['vary']).toBe('Origin');
      expect(corsHeadersOf(response)).toEqual({
        ...readable(admin),
        'access-control-allow-methods': methods,
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, If-None-Match',
        'access-control-max-age': '7200',
      });
    },
  );

  it('tells a page of another origin that asks first what anyone may know: the methods', async () => {
    const request = { method: 'OPTIONS', path: '/pets', headers: [preflight] };
    const response = await sendTo(ofTwo.baseAddress, from('https://other.example', request));
    expect(response.status).toBe(204);
    expect(response.headers['allow']).toBe('GET, HEAD, POST, OPTIONS');
    expect(corsHeadersOf(response)).toEqual({});
  });

  it('allows nothing on a path that does not exist', async () => {
    const request = { method: 'OPTIONS', path: '/cats', headers: [preflight] };
    const response = await sendTo(ofTwo.baseAddress, from(store, request));
    expect(response.status).toBe(404);
    expect(corsHeadersOf(response)).toEqual(readable(store));
  });

  it('lets its pages read a 304 and what is in its headers', async () => {
    const creation = from(store, { method: 'POST', path: '/pets', body: pet }, [
      ['Content-Type', 'application/json'],
    ]);
    const { id } = JSON.parse((await sendTo(ofTwo.baseAddress, creation)).text);
    const request = from(store, { path: `/pets/${id}` }, [['If-None-Match', '*']]);
    const response = await sendTo(ofTwo.baseAddress, request);
    expect(response.status).toBe(304);
    expect(corsHeadersOf(response)).toEqual(readable(store));
  });
});

describe("the gateway's own answers", () => {
  // A percent sign that starts no escape.
  const malformed = { path: '/pets?limit=%', headers: [] };

  it('can be read by pages of the one origin', async () => {
    for (const origin of [store, 'https://other.example']) {
      const response = await sendTo(ofOne.baseAddress, from(origin, malformed));
      expect(response.status).toBe(400);
      expect(corsHeadersOf(response)).toEqual(readable(store));
    }
  });

  it('can be read by any page where there are several origins, for they are the same for all', async () => {
    const response = await sendTo(ofTwo.baseAddress, from(admin, malformed));
    expect(response.status).toBe(400);
    expect(corsHeadersOf(response)).toEqual(readable('*'));
  });
});

describe('without CORS', () => {
  it.each([...answers, [401, { path: '/pets', headers: [] }] as const])(
    'has no header of it in the answer %i to %j, whatever Origin asks',
    async (status, request) => {
      const response = await sendTo(inject('baseAddress'), from(store, request, [preflight]));
      expect(response.status).toBe(status);
      expect(corsHeadersOf(response)).toEqual({});
      expect(response.headers).not.toHaveProperty('vary');
    },
  );
});
