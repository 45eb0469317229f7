import { describe, expect, it } from 'vitest';
import { type ClientResponse, sendTo } from '../support/http-client.ts';
import { authorization, baseAddress, create, expectError, send, store } from './client.ts';

const successorOf = ({ headers }: ClientResponse) =>
  /^<(.*)>; rel="successor-version"$/.exec(`${headers['link']}`)?.[1] ?? '';

const created = await create('{"name":"Zoë 🐶","categoryId":9223372036854775807}');
const { id } = JSON.parse(created.text);
const path = `/pets/${id}`;

describe('GET /pets/{petId}', () => {
  it('returns 200 with the pet as it was created, and says when the operation ends', async () => {
    const { status, text, headers } = await send({ path });
    expect(status).toBe(200);
    expect(text).toBe(created.text);
    const sunset = 'Thu, 05 Dec 2030 00:00:00 GMT';
    expect(headers).toMatchObject({ deprecation: '@1795219200', sunset });
  });

  it.each([0, -1, Number.MAX_SAFE_INTEGER, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'returns categoryId %s to the typed client as it was created, as a bigint where a number would not be exact',
    async (categoryId) => {
      const pet = await store.createPet({ name: 'Rex', categoryId });
      expect(pet).toEqual({ id: pet.id, name: 'Rex', categoryId, status: 'available' });
      expect(await store.getPet(pet.id)).toEqual(pet);
    },
  );

  it('links to a successor that works, also from a path that ends in a slash', async () => {
    const successor = successorOf(await send({ path: '/pets/1' }));
    const { origin } = new URL(baseAddress);
    const { status } = await sendTo(origin, { path: successor, headers: [authorization] });
    expect(status).toBe(200);
    expect(successorOf(await send({ path: '/pets/abc/' }))).toBe(successor);
  });

  it.each([
    ['of no pet', '1'],
    ['the largest there can be', '9007199254740991'],
    ['300 digits', '1'.repeat(300)],
    ['text', 'abc'],
    ['zero', '0'],
    // Each is another way to write the id of a pet.
    ['a fraction of zeros', `${id}.0`],
    ['an exponent', `${id}e0`],
    ['hexadecimal', `0x${id.toString(16)}`],
    ['led by a zero', `0${id}`],
    ['led by a plus', `+${id}`],
    ['a slash', '1%2f2'],
  ])('returns 404 for an id that is %s', async (_kind, id) => {
    expectError(await send({ path: `/pets/${id}` }), 404, 'not_found');
  });
});
