import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { AnimalStore, type ListPetsQuery } from '../../lib/client/animal-store.ts';
import type { ErrorBody } from '../../lib/client/bodies.ts';
import * as contractErrors from '../../lib/contract/error-body.ts';
import { exactJson, stringifyJson } from '../../lib/contract/exact-json.ts';
import type * as contractQuery from '../../lib/contract/list-pets-query.ts';
import { parseBody } from '../../lib/contract/parse-request.ts';
import * as contract from '../../lib/contract/pet.ts';
import type { OperationName } from '../../lib/contract/routes.ts';
import type { RequestBodies, ResponseBodies } from '../../lib/operations/operations.ts';
import { newPets, requiredFields } from '../support/new-pets.ts';

const rex: contract.Pet = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };

/** A client that gets this body. */
const storeWith = (body: unknown, status = 200) =>
  new AnimalStore({
    baseAddress: 'http://127.0.0.1/v1',
    apiKey: 'pets_test',
    fetch: async () =>
      new Response(stringifyJson(body), {
        status,
        headers: { 'Content-Type': 'application/json' },
      }),
  });

type ClientRequests = {
  [Name in OperationName]: Extract<Parameters<AnimalStore[Name]>[number], RequestBodies[Name]>;
};
type ClientResponses = {
  [Name in OperationName]: Flat<ItemOf<Awaited<ReturnType<AnimalStore[Name]>>>>;
};
type Responses = { [Name in OperationName]: Open<ItemOf<ResponseBodies[Name]>> };
type ItemOf<Body> = Body extends readonly (infer Item)[] | AsyncGenerator<infer Item> ? Item : Body;
type Flat<Type> = undefined extends Type ? undefined : { [Field in keyof Type]: Type[Field] };
/**
 * What a client reads: a text that is one of several can be a new one. `string & Record<never, never>` is any
 * text, but leaves editors the several to suggest.
 */
type Open<Type> = Type extends object
  ? { readonly [Field in keyof Type]: Open<Type[Field]> }
  :
      | Type
      | (string extends Type ? never : Type extends string ? string & Record<never, never> : never);

describe('the typed client', () => {
  it('declares the types of the contract', () => {
    // What differs is missing or wrong in lib/client/bodies.ts.
    expectTypeOf<ClientRequests>().toEqualTypeOf<RequestBodies>();
    expectTypeOf<ClientResponses>().toEqualTypeOf<Responses>();
    expectTypeOf<ErrorBody>().toEqualTypeOf<contractErrors.ErrorBody>();
    expectTypeOf<keyof ListPetsQuery>().toEqualTypeOf<keyof contractQuery.ListPetsQuery>();
    type Filter = Omit<contractQuery.ListPetsQuery, 'limit'>;
    expectTypeOf<Omit<ListPetsQuery, 'limit'>>().toEqualTypeOf<Filter>();
  });

  it('accepts every pet that the service accepts', async () => {
    const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    await fc.assert(
      fc.asyncProperty(ids, newPets, async (id, sent) => {
        const newPet = parseBody(contract.NewPet, sent);
        const pet = { id, ...newPet };
        expect(await storeWith(pet).getPet(id)).toEqual(pet);
        expect(await storeWith(pet, 201).createPet(newPet)).toEqual(pet);
      }),
    );
  });

  it('keeps the numbers of fields that it does not know', async () => {
    const sent = { price: '1.50', area: '1e2', distance: '123456789012345678901', views: '1.0' };
    const texts = { ...sent, instant: '9007199254740993', temperature: '-0.10' };
    const fields = Object.entries(texts).map(([name, text]) => [name, exactJson.rawJSON?.(text)]);
    expect(await storeWith({ ...rex, ...Object.fromEntries(fields) }).getPet(1)).toEqual({
      ...rex,
      price: 1.5,
      area: 100,
      distance: 123_456_789_012_345_680_000,
      views: 1,
      instant: 9_007_199_254_740_993n,
      temperature: -0.1,
    });
  });

  const refusal = { code: 'unexpected_response' };
  it.each(requiredFields(contract.Pet.entries))(
    'refuses a pet without %s, or whose %s is a list',
    async (field) => {
      for (const value of [undefined, [1]]) {
        const store = storeWith({ ...rex, [field]: value });
        await expect(store.getPet(1)).rejects.toMatchObject(refusal);
      }
    },
  );

  it.each(Object.keys(contractErrors.ErrorBody.entries))(
    'refuses an error whose %s is a list',
    async (field) => {
      const body = { code: 'not_found', message: 'There is no such animal.', status: 404 };
      expect(Object.keys(body)).toContain(field);
      await expect(storeWith(body, 404).getPet(1)).rejects.toMatchObject(body);
      const wrong = storeWith({ ...body, [field]: [1] }, 404);
      await expect(wrong.getPet(1)).rejects.toMatchObject(refusal);
    },
  );
});
