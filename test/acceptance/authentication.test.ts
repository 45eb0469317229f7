import { describe, expect, it } from 'vitest';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { operations } from '../../lib/operations/operations.ts';
import type { ClientRequest } from '../support/http-client.ts';
import { apiKey, expectError, send } from './client.ts';

const requests: readonly ClientRequest[] = [
  // A stage that refuses no key must not change a pet of the catalogue.
  ...operations.map(({ method, path }) => ({
    method,
    path: path.replace(/{\w+}/g, `${Number.MAX_SAFE_INTEGER}`),
  })),
  { path: '/pets/abc' },
  { path: '/pets?limit=0' },
  { method: 'POST', path: '/pets', body: 'not JSON, and of no media type' },
];

/** No value ends in a space, which HTTP would remove (RFC 9110 §5.5). */
const refused: readonly (readonly [kind: string, values: readonly string[]])[] = [
  ['no Authorization', []],
  ['an empty Authorization', ['']],
  ['only the scheme', ['Bearer']],
  ['the key without a scheme', [apiKey]],
  ['another scheme', [`Basic ${apiKey}`]],
  ['a word before the scheme', [`Not Bearer ${apiKey}`]],
  ['two keys in one header', [`Bearer ${apiKey} ${apiKey}`]],
  ['two schemes in one header', [`Bearer ${apiKey}, Bearer ${apiKey}`]],
  ['an over-long key', [`Bearer ${apiKey.repeat(80)}`]],
  ['a key cut short', [`Bearer ${apiKey.slice(0, -1)}`]],
  ['a key in capitals', [`Bearer ${apiKey.toUpperCase()}`]],
  ['an unknown key', [`Bearer ${generateApiKey('pets_test')}`]],
  ['a key of another stage', [`Bearer ${generateApiKey('pets_live')}`]],
  ['a tab after the scheme', [`Bearer\t${apiKey}`]],
];

describe('API key', () => {
  it.each(refused)('is refused with 401 before anything else: %s', async (_kind, values) => {
    const headers = values.map((value) => ['Authorization', value] as const);
    for (const request of requests) {
      const response = await send({ ...request, headers });
      expectError(response, 401, 'unauthorized');
      expect.soft(response.text).toContain('Authorization: Bearer <API key>');
      const { 'www-authenticate': own, 'x-amzn-remapped-www-authenticate': renamed } =
        response.headers;
      expect.soft(own ?? renamed).toBe('Bearer');
    }
  });

  it.each([
    ['Authorization', 'Bearer '],
    ['Authorization', 'bearer '],
    ['authorization', 'BEARER '],
    ['AUTHORIZATION', 'Bearer    '],
  ])('is accepted in %s: %s', async (name, scheme) => {
    const { status } = await send({ path: '/pets', headers: [[name, scheme + apiKey]] });
    expect(status).toBe(200);
  });
});
