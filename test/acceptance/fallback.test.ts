import { describe, expect, it } from 'vitest';
import { allowedMethods } from '../../lib/contract/routes.ts';
import { authorization, expectError, send } from './client.ts';

const headersWithAndWithoutKey = [[authorization], []];

describe('a path that no operation has', () => {
  it.each([
    ['GET', '/'],
    ['POST', '/v1/pets'],
    ['DELETE', '/Pets'],
    ['OPTIONS', '/pets/1/photos'],
  ])('returns 404 for %s %j, with and without a key', async (method, path) => {
    for (const headers of headersWithAndWithoutKey) {
      expectError(await send({ method, path, headers }), 404, 'not_found');
    }
  });
});

it.each([
  ['/pets/?limit=0', '/pets'],
  ['/pets/abc', '/pets/{petId}'],
])(
  '%s returns 405 for other methods and 204 for OPTIONS, with those of %s in Allow',
  async (path, template) => {
    const allowed = allowedMethods(template);
    const others = ['POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !allowed.includes(each));
    for (const method of [...others, 'OPTIONS']) {
      for (const headers of headersWithAndWithoutKey) {
        const response = await send({ method, path, headers });
        expect(response.status).toBe(method === 'OPTIONS' ? 204 : 405);
        expect(response.headers['allow']).toBe(allowed.join(', '));
      }
    }
  },
);
