import { describe, expect, it } from 'vitest';
import {
  bearer,
  createRequest,
  fromBundles,
  getRequest,
  type HandlerName,
  invoke,
  startHandlers,
} from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

const store = 'https://store.example';
const admin = 'http://localhost:5173';
const stranger = 'https://other.example';

const service = await startHandlers();
// Read when the bundles are loaded, after the sources.
process.env['CORS_ORIGINS'] = `${store} ${admin}`;
const withCors = await fromBundles();
const apiKey = await service.issueApiKey();
const { id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body;

const withOrigin = (origin: string, parts: EventParts): EventParts => ({
  ...parts,
  headers: { ...parts.headers, Origin: origin },
});

const corsHeadersOf = ({ headers }: { headers: Readonly<Record<string, unknown>> }) =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => name.startsWith('access-control-')),
  );

const readable = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers':
    'Allow, Deprecation, ETag, Link, Retry-After, Sunset, x-amzn-RequestId',
});

const list = (parts: EventParts = {}): EventParts => ({ headers: bearer(apiKey), ...parts });

const unchanged = { ...bearer(apiKey), 'If-None-Match': '*' };

/** A request for each kind of answer that a function gives. */
const answers: readonly (readonly [number, HandlerName, EventParts])[] = [
  [200, 'listPets', list()],
  [200, 'listPets', list({ method: 'HEAD' })],
  [201, 'createPet', createRequest(apiKey)],
  [204, 'unrouted', { method: 'OPTIONS' }],
  [304, 'getPet', { ...getRequest(apiKey, petId), headers: unchanged }],
  [400, 'listPets', list({ query: { limit: '0' } })],
  [401, 'listPets', {}],
  [404, 'getPet', getRequest(apiKey, 1)],
  [404, 'unrouted', { resource: '/{proxy+}' }],
  [405, 'unrouted', { method: 'DELETE' }],
  [415, 'createPet', createRequest(apiKey, {}, { 'Content-Type': 'text/plain' })],
];

describe('a function with CORS for some origins', () => {
  it.each(answers)(
    'lets only their pages read the answer %i of %s',
    async (status, name, parts) => {
      for (const [origin, expected] of [
        [store, readable(store)],
        [admin, readable(admin)],
        [stranger, {}],
      ] as const) {
        const response = await invoke(withCors[name], withOrigin(origin, parts));
        expect(response.status).toBe(status);
        expect(corsHeadersOf(response)).toEqual(expected);
        expect(response.headers['Vary']).toBe('Origin');
      }
    },
  );

  it.each([
    ['null', 'null'],
    ['in capitals', 'https://STORE.example'],
    ['followed by a slash', `${store}/`],
    ['of another scheme', 'http://store.example'],
    ['of another port', `${store}:8443`],
    ['the start of another host', `${store}.evil.example`],
    ['two at once', `${store} ${admin}`],
  ])('takes an Origin that is %s for none of them', async (_kind, origin) => {
    const response = await invoke(withCors.listPets, withOrigin(origin, list()));
    expect(response.status).toBe(200);
    expect(corsHeadersOf(response)).toEqual({});
  });

  const preflight = { 'Access-Control-Request-Method': 'POST' };

  it.each([
    ['/pets', 'GET, HEAD, POST, OPTIONS'],
    ['/pets/{petId}', 'GET, HEAD, OPTIONS'],
  ])('tells a browser what it may send to %s, without a key', async (resource, methods) => {
    const request = { method: 'OPTIONS', resource, headers: preflight };
    const response = await invoke(withCors.unrouted, withOrigin(admin, request));
    expect(response).toMatchObject({ status: 204, text: '', headers: { Vary: 'Origin' } });
    expect(corsHeadersOf(response)).toEqual({
      ...readable(admin),
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match',
      'access-control-max-age': '7200',
    });
  });

  it.each([
    ['of another origin', stranger, '/pets', 204, {}],
    ['that asks for an unknown path', store, '/{proxy+}', 404, readable(store)],
  ])('allows no method to a page %s', async (_kind, origin, resource, status, expected) => {
    const request = { method: 'OPTIONS', resource, headers: preflight };
    const response = await invoke(withCors.unrouted, withOrigin(origin, request));
    expect(response.status).toBe(status);
    expect(corsHeadersOf(response)).toEqual(expected);
  });
});

describe('a function without CORS', () => {
  it.each(answers)('has no header of it in the answer %i of %s', async (status, name, parts) => {
    const response = await invoke(service[name], withOrigin(store, parts));
    expect(response.status).toBe(status);
    expect(corsHeadersOf(response)).toEqual({});
    expect(response.headers).not.toHaveProperty('Vary');
  });
});
