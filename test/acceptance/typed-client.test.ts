import { describe, expect, it } from 'vitest';
import { store } from './client.ts';

describe('the typed client', () => {
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
