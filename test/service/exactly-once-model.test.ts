import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import { maxIdempotencyKeyLength } from '../../lib/contract/limits.ts';
import { parseBody } from '../../lib/contract/parse-request.ts';
import { NewPet, type Pet, petStatuses } from '../../lib/contract/pet.ts';
import { candidateId, creationOf } from '../../lib/pets/creation.ts';
import { captureLog, expectOneFailure } from '../support/captured-log.ts';
import { bearer, creation } from '../support/events.ts';
import { type Fault, faults, stalls } from '../support/fault-proxy.ts';
import { startHandlers } from '../support/handlers.ts';
import { inListOrder } from '../support/in-list-order.ts';
import { longTexts, newPetFields, newPets } from '../support/new-pets.ts';
import { walkPages } from '../support/pages.ts';
import { runsOf } from '../support/runs.ts';

const service = await startHandlers();

beforeEach(() => service.proxy.reset());

/** The expected catalogue, with each pet once, as it is by now. */
interface Catalogue {
  readonly pets: Map<number, Pet>;
  /** What each Idempotency-Key was first used for: the body that was sent, and the id of its pet. */
  readonly creations: Map<string, { readonly newPet: unknown; readonly id: number }>;
}

const { accessDenied, resourceNotFound, ...passing } = faults;
const quickFaults = new Map<string, Fault>(Object.entries(passing));

/** A named fault that strikes the next request of a call, such as `PutItem Pets`. */
interface Strike {
  readonly call: string;
  readonly fault: string;
}

/** A fault of one of these calls, or none. A call hangs rarely, because that takes a second. */
const strikeOn = (...calls: string[]) => {
  const quick = { arbitrary: fc.constantFrom(...quickFaults.keys()), weight: 100 };
  const fault = fc.oneof(quick, { arbitrary: fc.constant('hang'), weight: 1 });
  return fc.option(fc.record({ call: fc.constantFrom(...calls), fault }), { nil: undefined });
};

/** A command of the model, which runs with its fault injected. */
const command = <Args extends { readonly strike: Strike | undefined }>(
  name: string,
  args: fc.Arbitrary<Args>,
  run: (args: Args, catalogue: Catalogue) => Promise<void>,
) =>
  args.map((given) => ({
    check: () => true,
    run: async (catalogue: Catalogue) => {
      service.proxy.reset();
      const { strike } = given;
      const fault = quickFaults.get(strike?.fault ?? '') ?? stalls.hang;
      if (strike) service.proxy.inject(strike.call, fault, 1);
      await run(given, catalogue);
    },
    toString: () => `${name}(${fc.stringify(given)})`,
  }));

/**
 * A client that sends its request up to 5 times, until the response is 201, or a 4xx that no retry can
 * change.
 */
const createUntilDone = async (newPet: unknown, key: string | undefined, apiKey: string) => {
  const headers = { ...bearer(apiKey), 'Idempotency-Key': key ?? [] };
  for (let attempt = 1; ; attempt += 1) {
    const response = await service.send(creation(newPet, headers));
    if (response.status < 500 || attempt === 5) return response;
  }
};

const keyless = fc.record({
  newPet: newPets,
  key: fc.constant(undefined),
  copies: fc.constant(1),
  strike: strikeOn('PutItem Pets', 'GetItem Keys'),
});
const keyed = fc.record({
  newPet: newPets,
  key: fc.constantFrom(...longTexts.map((text) => text.slice(-maxIdempotencyKeyLength))),
  copies: fc.integer({ min: 1, max: 4 }),
  strike: strikeOn('PutItem Pets'),
});

/** A creation, which several requests with the same key may ask for at the same time. */
interface Creation {
  readonly newPet: unknown;
  readonly key: string | undefined;
  readonly copies: number;
  readonly strike: Strike | undefined;
}

const createPet = async (
  { newPet, key, copies, strike }: Creation,
  { pets, creations }: Catalogue,
) => {
  // Only a key that is not cached yet is read from the keys table.
  const apiKey = strike?.call === 'GetItem Keys' ? await service.issueApiKey() : service.apiKey;
  const responses = await Promise.all(
    Array.from({ length: copies }, () => createUntilDone(newPet, key, apiKey)),
  );
  for (const { status, body, text } of responses) {
    const earlier = key === undefined ? undefined : creations.get(key);
    // With the default status, where the client sent none.
    const sent = parseBody(NewPet, newPet);
    if (earlier && !isDeepStrictEqual(parseBody(NewPet, earlier.newPet), sent)) {
      expect(status).toBe(422);
      continue;
    }
    expect(status).toBe(201);
    const pet = earlier ? pets.get(earlier.id) : { id: body.id, ...sent };
    expect(text).toBe(stringifyJson(pet));
    if (earlier || !pet) continue;
    expect(pets.has(pet.id)).toBe(false);
    pets.set(pet.id, pet);
    if (key) creations.set(key, { newPet, id: pet.id });
  }
};

const create = command('create', fc.oneof(keyless, keyed), createPet);

/** A client that repeats every creation that had a key, also if its pet has changed. */
const repeat = command(
  'repeat',
  fc.record({ strike: strikeOn('PutItem Pets') }),
  async ({ strike }, catalogue) => {
    for (const [key, { newPet }] of catalogue.creations)
      await createPet({ newPet, key, copies: 1, strike }, catalogue);
  },
);

/** Another program that changes every pet. */
const change = command(
  'change',
  fc.record({
    fields: fc.record(newPetFields, { requiredKeys: [] }),
    strike: fc.constant(undefined),
  }),
  async ({ fields }, { pets }) => {
    for (const item of await service.storedPets()) await service.putPet({ ...item, ...fields });
    for (const [id, pet] of pets) pets.set(id, { ...pet, ...fields });
  },
);

const get = command(
  'get',
  fc.record({ index: fc.nat(20), strike: strikeOn('GetItem Pets') }),
  async ({ index }, { pets }) => {
    const pet = [...pets.values()][index % pets.size];
    const { status, text } = await service.send({ path: { petId: `${pet?.id}` } });
    expect(status).toBe(pet ? 200 : 404);
    if (pet) expect(text).toBe(stringifyJson(pet));
  },
);

const list = command(
  'list',
  fc.record({
    filter: fc.constantFrom(undefined, ...petStatuses),
    limit: fc.integer({ min: 1, max: 5 }),
    strike: strikeOn('Query Pets'),
  }),
  async ({ filter, limit }, { pets }) => {
    const pages = await walkPages(service.send, { limit: `${limit}`, status: filter ?? [] });
    const isWanted = ({ status }: Pet) => status === (filter ?? status);
    const expected = inListOrder(pets.values()).filter(isWanted);
    const listed = pages.map(({ text }) => text.slice(1, -1));
    expect(`[${listed.join()}]`).toBe(stringifyJson(expected));
  },
);

it('keeps every pet exactly once and unaltered, when any single fault strikes any call', {
  timeout: 600_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  console.info(`fast-check seed of the model of the catalogue: ${seed}`);
  captureLog();
  await fc.assert(
    fc.asyncProperty(
      fc.commands([create, create, repeat, change, get, list], {
        maxCommands: 12,
        size: 'max',
      }),
      // Each sequence ends with these, so that every run of the test repeats creations after a change.
      fc.tuple(change, repeat),
      async (sequence, end) => {
        const catalogue: Catalogue = { pets: new Map(), creations: new Map() };
        await service.deletePets();
        await fc.asyncModelRun(
          () => ({ model: catalogue, real: undefined }),
          [...sequence, ...end],
        );
        const stored = await service.storedPets();
        expect(stored).toHaveLength(catalogue.pets.size);
        for (const pet of catalogue.pets.values())
          expect(stored).toContainEqual(expect.objectContaining(pet));
      },
    ),
    { numRuns: runsOf(20, 1_000), seed, unbiased: true },
  );
});

const rex = { name: 'Rex', categoryId: 1 };
const createOnce = (key: string, pet: object = rex, apiKey = service.apiKey) =>
  service.send(creation(pet, { ...bearer(apiKey), 'Idempotency-Key': key }));

describe('an Idempotency-Key', () => {
  it('belongs to the owner, not to one API key of the owner, even when requests interleave', async () => {
    const key = randomUUID();
    const created = await Promise.all(
      Array.from({ length: 10 }, async (_, owner) => {
        // Long owners that differ only in the last digit.
        const issue = () => service.issueApiKey({ owner: `${owner}`.padStart(255, 'x') });
        const [one, other] = [await issue(), await issue()];
        const pet = { name: `pet of ${owner}`, categoryId: 9007199254740993n };
        const [mine, refused, again] = await Promise.all([
          createOnce(key, pet, one),
          createOnce(key, pet, `${one}0`),
          createOnce(key, pet, other),
        ]);
        expect(refused.status).toBe(401);
        expect(again.text).toBe(mine.text);
        expect(mine.text).toContain(stringifyJson(pet).slice(1, -1));
        return mine.body.id;
      }),
    );
    expect(new Set(created).size).toBe(10);
  });
});

describe('an id that is taken', () => {
  /** Puts other pets at the first ids that a creation with this key would try. Returns all 8 ids. */
  const occupy = async (key: string, count: number) => {
    const identity = creationOf({ owner: 'test', key });
    const ids = Array.from({ length: 8 }, (_, attempt) => candidateId(identity, attempt));
    for (const id of ids.slice(0, count)) {
      const hashes = { creation: Buffer.alloc(32), fingerprint: Buffer.alloc(32) };
      await service.putPet({ id, ...rex, status: 'available', ...hashes });
    }
    return ids;
  };

  it('keeps its pet: the creation takes the next candidate, and its replay finds it there', async () => {
    const key = randomUUID();
    const ids = await occupy(key, 2);
    const { body, text } = await createOnce(key, { ...rex, name: 'Max' });
    expect(body).toMatchObject({ name: 'Max', id: ids[2] });
    expect((await createOnce(key, { ...rex, name: 'Max' })).text).toBe(text);
    expect((await service.send({ path: { petId: `${ids[0]}` } })).body.name).toBe('Rex');
  });

  it('leads to 500 when every candidate is taken', async () => {
    const key = randomUUID();
    await occupy(key, 8);
    const lines = captureLog();
    expect((await createOnce(key)).status).toBe(500);
    const cause = { name: 'Error', message: 'Every candidate id is taken' };
    expectOneFailure(lines, { operation: 'createPet', code: 'internal_error', cause });
  });
});
