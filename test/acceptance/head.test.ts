import { describe, expect, it } from 'vitest';
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

describe('HEAD', () => {
  it.each([
    [200, `/pets/${id}`, [authorization]],
    [400, '/pets?limit=0', [authorization]],
    [401, '/pets', []],
    [404, '/pets/1', [authorization]],
    [404, '/cats', [authorization]],
  ])('returns %i like GET for %s, without the body', (status, path, headers) =>
    expectHead(status, { path, headers }),
  );

  it('returns 200 like GET for a list, without the body', async () => {
    await eventually(() => expectHead(200, { path: '/pets?limit=1' }));
  });
});
