import { describe, expect, it } from 'vitest';
import { apiKey, authorization, expectError, expectNoLeak, send } from './client.ts';

const headersWithAndWithoutKey = [
  ['with', [authorization]],
  ['without', []],
] as const;

describe('a path that no operation has', () => {
  it.each(
    ['', '/', '/pet', '/pets/1/photos', '/Pets', '/pets;x=1', '/v1/pets'].flatMap((path) =>
      ['GET', 'POST', 'DELETE'].map((method) => [method, path] as const),
    ),
  )('answers 404 to %s %j, with and without a key', async (method, path) => {
    for (const [, headers] of headersWithAndWithoutKey) {
      expectError(await send({ method, path, headers }), 404, 'not_found');
    }
  });

  it('does not echo a key that stands in the path or the query', async () => {
    const response = await send({ path: `/${apiKey}?key=${apiKey}`, headers: [] });
    expectError(response, 404, 'not_found');
  });
});

describe('a method that a path does not have', () => {
  it.each([
    ['PUT', '/pets', 'GET, POST'],
    ['PATCH', '/pets', 'GET, POST'],
    ['DELETE', '/pets', 'GET, POST'],
    ['DELETE', '/pets/', 'GET, POST'],
    ['OPTIONS', '/pets', 'GET, POST'],
    ['POST', '/pets/1', 'GET'],
    ['PUT', '/pets/1', 'GET'],
    ['DELETE', '/pets/1', 'GET'],
  ])('answers 405 to %s %s and allows %s', async (method, path, allowed) => {
    for (const [, headers] of headersWithAndWithoutKey) {
      const response = await send({ method, path, headers });
      expectError(response, 405, 'method_not_allowed');
      expect(response.headers['allow']).toBe(allowed);
    }
  });

  it('answers 405 to HEAD, without a body', async () => {
    const response = await send({ method: 'HEAD', path: '/pets' });
    expect(response.status).toBe(405);
    expect(response.headers['allow']).toBe('GET, POST');
    expect(response.text).toBe('');
    expectNoLeak(response);
  });
});
