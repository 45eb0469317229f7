import { describe, expect, it } from 'vitest';
import { allowedMethods } from '../../lib/contract/routes.ts';
import { apiKey, authorization, expectError, expectRefused, send } from './client.ts';

const headersWithAndWithoutKey = [[authorization], []];

describe('a path that no operation has', () => {
  it.each(
    ['/', '/pet', '/pets/1/photos', '/Pets', '/v1/pets'].flatMap((path) =>
      ['GET', 'POST', 'DELETE', 'OPTIONS'].map((method) => [method, path] as const),
    ),
  )('returns 404 for %s %j, with and without a key', async (method, path) => {
    for (const headers of headersWithAndWithoutKey) {
      expectError(await send({ method, path, headers }), 404, 'not_found');
    }
  });

  it.each([
    ['the root of the stage without its slash', ''],
    ['a path parameter', '/pets;x=1'],
  ])('returns 400 or 404 for %s', async (_kind, path) => {
    for (const headers of headersWithAndWithoutKey) expectRefused(await send({ path, headers }));
  });

  it('does not echo a key in the path or the query', async () => {
    const response = await send({ path: `/${apiKey}?key=${apiKey}`, headers: [] });
    expectError(response, 404, 'not_found');
  });
});

const allowedOn = (template: string) => allowedMethods(template).join(', ');

describe.each([
  ['/pets', allowedOn('/pets')],
  ['/pets/', allowedOn('/pets')],
  ['/pets?limit=0', allowedOn('/pets')],
  ['/pets/1', allowedOn('/pets/{petId}')],
  ['/pets/abc', allowedOn('/pets/{petId}')],
])('%s', (path, allowed) => {
  const others = ['POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method));

  it.each([...others.map((method) => [405, method] as const), [204, 'OPTIONS'] as const])(
    `returns %i for %s and allows ${allowed}, with and without a key`,
    async (status, method) => {
      for (const headers of headersWithAndWithoutKey) {
        const response = await send({ method, path, headers });
        expect(response.status).toBe(status);
        expect(response.headers['allow']).toBe(allowed);
      }
    },
  );
});
