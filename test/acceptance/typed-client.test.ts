import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { store } from './client.ts';

describe('the typed client', () => {
  it.each([0, -1, Number.MAX_SAFE_INTEGER, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'adds and gets a pet with categoryId %s, as a bigint where a number would not be exact',
    async (categoryId) => {
      const pet = await store.createPet({ name: 'Rex', categoryId });
      expect(pet).toEqual({ id: pet.id, name: 'Rex', categoryId, status: 'available' });
      expect(await store.getPet(pet.id)).toEqual(pet);
    },
  );

  it('adds a pet once under one Idempotency-Key', async () => {
    const idempotencyKey = randomUUID();
    const rex = { name: 'Rex', categoryId: 1 };
    const first = await store.createPet(rex, { idempotencyKey });
    expect(await store.createPet(rex, { idempotencyKey })).toEqual(first);
    expect((await store.createPet(rex)).id).not.toBe(first.id);
    const other = store.createPet({ ...rex, name: 'Max' }, { idempotencyKey });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  it('throws the error of the service, with the id of the request', async () => {
    await expect(store.createPet({ name: ' ', categoryId: 1 })).rejects.toMatchObject({
      name: 'AnimalStoreError',
      code: 'invalid_request',
      status: 400,
      message: expect.stringMatching(/^name /),
      requestId: process.env['LEFT_OUT_HEADERS'] ? undefined : expect.stringMatching(/^\S{15}=$/),
    });
    const notFound = { name: 'AnimalStoreError', code: 'not_found', status: 404 };
    await expect(store.getPet(1)).rejects.toMatchObject(notFound);
    await expect(store.listPets({ limit: 0 }).next()).rejects.toMatchObject({ status: 400 });
  });
});
