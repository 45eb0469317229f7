import { describe, expect, it } from 'vitest';
import { requestHeaders } from '../../lib/contract/cors-headers.ts';
import { allowedMethods } from '../../lib/contract/routes.ts';
import { headers, headersOf } from '../../lib/openapi/headers.ts';
import { definition as listPets } from '../../lib/operations/list-pets.ts';
import { operations } from '../../lib/operations/operations.ts';
import { bearer, creation, type EventParts, type Values } from '../support/events.ts';
import { fromBundles, loadHandlers, senderTo, startHandlers } from '../support/handlers.ts';

const store = 'https://store.example';
const admin = 'http://localhost:5173';
const stranger = 'https://other.example';

const service = await startHandlers();
// The bundles, which are loaded next, read this.
process.env['CORS_ORIGINS'] = `${store} ${admin}`;
const withCors = senderTo(await loadHandlers(fromBundles), service.apiKey);
const { id: petId } = (await service.send(creation())).body;

/** Returns the response to a page of an origin, and its CORS headers. */
const responseTo = async (Origin: string, parts: EventParts, send = withCors) => {
  const response = await send({ ...parts, headers: { ...parts.headers, Origin } });
  const named = Object.entries(response.headers).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  const corsHeaders = named.filter(([name]) => `${name}`.startsWith('access-control-'));
  return { ...response, corsHeaders: Object.fromEntries(corsHeaders) };
};

const readable = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers':
    'Accept, Accept-Encoding, Allow, Deprecation, Idempotent-Replayed, Link, Retry-After, Sunset, X-Stability, x-amz-apigw-id',
});

/** A request for each kind of response that a function gives. */
const responses: readonly (readonly [status: number, EventParts])[] = [
  [200, {}],
  [200, { method: 'HEAD' }],
  [200, { path: { petId } }],
  [201, creation()],
  [204, { method: 'OPTIONS' }],
  [400, { query: { limit: '0' } }],
  [401, { headers: bearer('no key') }],
  [404, { path: { petId: '1' } }],
  [404, { resource: '/{proxy+}' }],
  [405, { method: 'DELETE' }],
  [415, creation({}, { 'Content-Type': 'text/plain' })],
];

it('pages can read each header that clients may rely on, except the authentication scheme', () => {
  const exposed = readable('*')['access-control-expose-headers'].split(', ');
  // https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name
  const safelisted = 'Cache-Control';
  const all = { ...headers, ...headersOf({ ...listPets, stability: 'beta' }, {}) };
  const relied = Object.keys(all).map((name) => name.replace(/^(Next|Successor)Link$/, 'Link'));
  const read = relied.filter((name) => !/www-authenticate$/i.test(name) && name !== safelisted);
  expect(new Set(exposed)).toEqual(new Set(read));
});

it('pages can send each header that an operation takes', () => {
  const taken = operations.flatMap(({ input }) => Object.keys(input.headers.entries));
  expect(requestHeaders.split(', ')).toEqual(expect.arrayContaining(taken));
});

describe('a function with CORS for some origins', () => {
  it.each(responses)('lets only their pages read the %i for %j', async (status, parts) => {
    for (const [origin, expected] of [
      [store, readable(store)],
      [admin, readable(admin)],
      [stranger, {}],
    ] as const) {
      const response = await responseTo(origin, parts);
      expect(response.status).toBe(status);
      expect(response.corsHeaders).toEqual(expected);
      expect(response.headers['Vary']).toBe('Origin');
    }
  });

  it.each([
    'null',
    'https://STORE.example',
    `${store}/`,
    'http://store.example',
    `${store}:8443`,
    `${store}.evil.example`,
    `${store} ${admin}`,
  ])('does not accept the Origin %s as one of them', async (origin) => {
    const { status, corsHeaders } = await responseTo(origin, {});
    expect([status, corsHeaders]).toEqual([200, {}]);
  });

  const preflight: Values = { Authorization: [], 'Access-Control-Request-Method': 'POST' };

  const allowed = (path: string) => ({
    ...readable(admin),
    'access-control-allow-methods': allowedMethods(path).join(', '),
    'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key',
    'access-control-max-age': '7200',
  });

  it('tells no page what it may send, unless its browser asks with OPTIONS', async () => {
    const headers = { ...bearer(service.apiKey), 'Access-Control-Request-Method': 'POST' };
    const response = await responseTo(admin, { method: 'DELETE', headers });
    expect(response).toMatchObject({ status: 405, headers: { Allow: expect.anything() } });
    expect(response.corsHeaders).toEqual(readable(admin));
  });

  it.each([
    [admin, '/pets', 204, allowed('/pets')],
    [admin, '/pets/{petId}', 204, allowed('/pets/{petId}')],
    [admin, '/{proxy+}', 404, readable(admin)],
    [stranger, '/pets', 204, {}],
  ])('tells a browser at %s what it may send to %s', async (origin, resource, status, expected) => {
    const response = await responseTo(origin, { method: 'OPTIONS', resource, headers: preflight });
    expect(response).toMatchObject({ status, headers: { Vary: 'Origin' } });
    expect(response.corsHeaders).toEqual(expected);
  });
});

describe('a function without CORS', () => {
  it.each(responses)('adds no CORS header to the %i for %j', async (status, parts) => {
    const response = await responseTo(store, parts, service.send);
    expect([response.status, response.corsHeaders]).toEqual([status, {}]);
    expect(response.headers).not.toHaveProperty('Vary');
  });
});
