import { describe, expect, it } from 'vitest';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import type { ClientRequest } from '../support/http-client.ts';
import { authorization, create, eventually, send } from './client.ts';

/** Headers that a response to HEAD may lack (RFC 9110 §9.3.2), and those of the connection. */
const incidental = /^(connection|content-length|keep-alive|transfer-encoding)$/;

const outcomeOf = async (request: ClientRequest) => {
  const { status, headers, text } = await send(request);
  const names = Object.keys(headers).filter((name) => !incidental.test(name));
  return { status, names: names.toSorted(), text };
};

/** Expects HEAD to get the response of GET, without its body. */
const expectHead = async (status: number, request: ClientRequest) => {
  const head = await outcomeOf({ ...request, method: 'HEAD' });
  expect(head).toMatchObject({ status, text: '' });
  expect(head).toEqual({ ...(await outcomeOf(request)), text: '' });
};

const { id } = JSON.parse((await create({ name: 'Rex', categoryId: 1 })).text);
const credentials = {
  'the API key': [authorization],
  'no API key': [],
  'an API key that nobody has': [['Authorization', `Bearer ${generateApiKey('pets_test')}`]],
} as const;

describe('HEAD', () => {
  it.each<[status: number, path: string, kind: keyof typeof credentials]>([
    [200, `/pets/${id}`, 'the API key'],
    [400, '/pets?limit=0', 'the API key'],
    [401, '/pets', 'no API key'],
    [401, '/pets', 'an API key that nobody has'],
    [401, '/pets/1', 'an API key that nobody has'],
    [404, '/pets/1', 'the API key'],
    [404, '/cats', 'the API key'],
  ])('returns %i like GET for %s with %s, without the body', (status, path, kind) =>
    expectHead(status, { path, headers: credentials[kind] }),
  );

  it('returns 200 like GET for a list, without the body', async () => {
    await eventually(() => expectHead(200, { path: '/pets?limit=1' }));
  });
});
