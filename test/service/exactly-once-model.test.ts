import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { toPet } from '../../lib/contract/pet.ts';
import type { NewPet } from '../../lib/contract/requests.ts';
import { type Fault, faults, stalls } from '../support/fault-proxy.ts';
import {
  captureLog,
  createRequest,
  getRequest,
  invoke,
  startHandlers,
  walkPages,
} from '../support/handlers.ts';
import { runsOf } from '../support/runs.ts';

const service = await startHandlers();
const apiKey = await service.issueApiKey();

/** What the catalogue must hold: each pet once, as its creator was told. */
interface Catalogue {
  readonly pets: Map<number, Pet>;
  /** What each Idempotency-Key was first used for. */
  readonly creations: Map<string, Pet>;
}

/** A fault of the next request of a call. */
interface Strike {
  readonly call: string;
  readonly fault: Fault;
  readonly name: string;
}

const inject = (strike: Strike | undefined) => {
  service.proxy.reset();
  if (strike) service.proxy.inject(strike.call, strike.fault, 1);
};

/** The pets of an answer, with exact integers. */
const petsOf = (text: string): Pet[] =>
  z
    .array(z.record(z.string(), z.unknown()))
    .parse([parseJson(text)].flat())
    .map(toPet);

/** A client that sends its request again until it is told 201, or that the request is wrong. */
const createUntilDone = async (newPet: NewPet, idempotencyKey?: string, key = apiKey) => {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const response = await invoke(service.createPet, createRequest(key, newPet, headers));
    if (response.status < 500) return response;
  }
  throw new Error('No answer but failures');
};

type Command = fc.AsyncCommand<Catalogue, void>;

const command = (name: string, args: readonly unknown[], run: Command['run']) => ({
  check: () => true,
  run,
  toString: () => `${name}(${args.map((arg) => fc.stringify(arg)).join(', ')})`,
});

const create = (
  newPet: NewPet,
  key: string | undefined,
  copies: number,
  strike: Strike | undefined,
): Command =>
  command('create', [newPet, key, copies, strike?.name], async (catalogue) => {
    // Only a key that is not cached yet leads to the keys table.
    const fresh = strike?.call === 'GetItem Keys' ? await service.issueApiKey() : apiKey;
    inject(strike);
    const responses = await Promise.all(
      Array.from({ length: copies }, () => createUntilDone(newPet, key, fresh)),
    );
    for (const { status, text } of responses) {
      const earlier = key && catalogue.creations.get(key);
      if (earlier && fc.stringify(fieldsOf(earlier)) !== fc.stringify(fieldsOf(newPet))) {
        expect(status).toBe(422);
      } else {
        expect(status).toBe(201);
        const [pet] = petsOf(text);
        if (!pet) throw new Error('No pet in the answer');
        expect(pet).toEqual(earlier ?? { id: pet.id, ...newPet });
        expect(catalogue.pets.has(pet.id)).toBe(Boolean(earlier));
        catalogue.pets.set(pet.id, pet);
        if (key) catalogue.creations.set(key, pet);
      }
    }
  });

const get = (index: number, strike: Strike | undefined): Command => ({
  ...command('get', [index, strike?.name], async ({ pets }) => {
    inject(strike);
    const all = [...pets.values()];
    const pet = all[index % all.length];
    const { status, text } = await invoke(service.getPet, getRequest(apiKey, pet?.id ?? 0));
    expect(status).toBe(200);
    expect(petsOf(text)).toEqual([pet]);
  }),
  check: ({ pets }) => pets.size > 0,
});

const list = (filter: Pet['status'] | undefined, limit: number, strike: Strike | undefined) =>
  command('list', [filter, limit, strike?.name], async ({ pets }) => {
    inject(strike);
    const query = { limit: `${limit}`, ...(filter && { status: filter }) };
    const pages = await walkPages(service.listPets, apiKey, query);
    expect(pages.flatMap(({ text }) => petsOf(text))).toEqual(inOrder(pets, filter));
  });

const fieldsOf = ({ name, categoryId, status }: NewPet) => [name, categoryId, status];

const inOrder = (pets: ReadonlyMap<number, Pet>, filter?: Pet['status']) =>
  [...pets.values()]
    .filter(({ status }) => filter === undefined || status === filter)
    .toSorted(
      (left, right) =>
        petStatuses.indexOf(left.status) - petStatuses.indexOf(right.status) || left.id - right.id,
    );

const { accessDenied, resourceNotFound, ...quickFaults } = faults;
// A hanging call costs a second.
const kind = fc.oneof(
  { arbitrary: fc.constantFrom(...Object.entries<Fault>(quickFaults)), weight: 100 },
  { arbitrary: fc.constant<[string, Fault]>(['hang', stalls.hang]), weight: 1 },
);

const strikeOn = (...calls: string[]) =>
  fc.option(
    fc
      .tuple(fc.constantFrom(...calls), kind)
      .map(([call, [name, fault]]): Strike => ({ call, fault, name: `${call}: ${name}` })),
    { nil: undefined },
  );

const newPet = fc.record({
  name: fc.constantFrom('Rex', 'Zoë', ' 🐶 '),
  categoryId: fc.constantFrom(0, -1, 2n ** 63n - 1n, -(2n ** 63n), Number.MAX_SAFE_INTEGER),
  status: fc.constantFrom(...petStatuses),
});

const key = fc.constantFrom('a', 'b');
const copies = fc.integer({ min: 1, max: 4 });
const noKey = fc.constant(undefined);
const filter = fc.constantFrom(undefined, ...petStatuses);
const limit = fc.integer({ min: 1, max: 5 });

const keyless = fc.tuple(newPet, noKey, fc.constant(1), strikeOn('PutItem Pets', 'GetItem Keys'));
const keyed = fc.tuple(newPet, key, copies, strikeOn('PutItem Pets'));
const commands = fc.commands(
  [
    keyless.map((args) => create(...args)),
    keyed.map((args) => create(...args)),
    fc.tuple(fc.nat(20), strikeOn('GetItem Pets')).map((args) => get(...args)),
    fc.tuple(filter, limit, strikeOn('Query Pets')).map((args) => list(...args)),
  ],
  { maxCommands: 12 },
);

it('keeps every pet exactly once and unaltered, when any single fault strikes any call', {
  timeout: 600_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  console.info(`fast-check seed of the model of the catalogue: ${seed}`);
  captureLog();
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const catalogue: Catalogue = { pets: new Map(), creations: new Map() };
      await service.deletePets();
      await fc.asyncModelRun(() => ({ model: catalogue, real: undefined }), sequence);
      service.proxy.reset();
      const stored = await service.storedPets();
      expect(stored).toHaveLength(catalogue.pets.size);
      for (const pet of stored) expect(pet).toMatchObject({ ...catalogue.pets.get(pet['id']) });
    }),
    { numRuns: runsOf(20, 1_000), seed },
  );
});
