import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { toPet } from '../../lib/contract/pet.ts';
import { type Fault, faults, stalls } from '../support/fault-proxy.ts';
import {
  bearer,
  captureLog,
  createRequest,
  getRequest,
  invoke,
  startHandlers,
} from '../support/handlers.ts';
import { nextPageQuery } from '../support/next-page.ts';
import { runsOf } from '../support/runs.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
});

type NewPet = Omit<Pet, 'id'>;

/** What the catalogue must hold: each pet once, as its creator was told. */
interface Catalogue {
  readonly pets: Map<number, Pet>;
  /** What each Idempotency-Key was first used for. */
  readonly creations: Map<string, Pet>;
  readonly run: string;
}

/** A fault that strikes the next request of one call, once. */
interface Strike {
  readonly call: string;
  readonly fault: Fault;
}

const inject = (strike: Strike | undefined) => {
  service.proxy.reset();
  if (strike) service.proxy.inject(strike.call, strike.fault, 1);
};

/** The pets of an answer, to the last digit. */
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

class Create implements fc.AsyncCommand<Catalogue, void> {
  readonly newPet: NewPet;
  readonly key: string | undefined;
  readonly copies: number;
  readonly strike: Strike | undefined;

  constructor(newPet: NewPet, key: string | undefined, copies: number, strike: Strike | undefined) {
    this.newPet = newPet;
    this.key = key;
    this.copies = copies;
    this.strike = strike;
  }

  check() {
    return true;
  }

  async run(catalogue: Catalogue) {
    // Only a key that is not cached yet leads to the keys table.
    const fresh = this.strike?.call === 'GetItem Keys' ? await service.issueApiKey() : apiKey;
    inject(this.strike);
    const key = this.key && `${catalogue.run}-${this.key}`;
    const responses = await Promise.all(
      Array.from({ length: this.copies }, () => createUntilDone(this.newPet, key, fresh)),
    );
    for (const { status, text } of responses) {
      const earlier = key === undefined ? undefined : catalogue.creations.get(key);
      if (earlier && fc.stringify(fieldsOf(earlier)) !== fc.stringify(fieldsOf(this.newPet))) {
        expect(status).toBe(422);
      } else {
        expect(status).toBe(201);
        const [pet] = petsOf(text);
        if (!pet) throw new Error('No pet in the answer');
        expect(pet).toEqual(earlier ?? { id: pet.id, ...this.newPet });
        expect(catalogue.pets.has(pet.id)).toBe(earlier !== undefined);
        catalogue.pets.set(pet.id, pet);
        if (key !== undefined) catalogue.creations.set(key, pet);
      }
    }
  }

  toString() {
    return `create(${fc.stringify([this.newPet, this.key, this.copies])}, ${nameOf(this.strike)})`;
  }
}

class Get implements fc.AsyncCommand<Catalogue, void> {
  readonly index: number;
  readonly strike: Strike | undefined;

  constructor(index: number, strike: Strike | undefined) {
    this.index = index;
    this.strike = strike;
  }

  check({ pets }: Catalogue) {
    return pets.size > 0;
  }

  async run({ pets }: Catalogue) {
    inject(this.strike);
    const all = [...pets.values()];
    const pet = all[this.index % all.length];
    const { status, text } = await invoke(service.getPet, getRequest(apiKey, pet?.id ?? 0));
    expect(status).toBe(200);
    expect(petsOf(text)).toEqual([pet]);
  }

  toString() {
    return `get(${this.index}, ${nameOf(this.strike)})`;
  }
}

class List implements fc.AsyncCommand<Catalogue, void> {
  readonly filter: Pet['status'] | undefined;
  readonly limit: number;
  readonly strike: Strike | undefined;

  constructor(filter: Pet['status'] | undefined, limit: number, strike: Strike | undefined) {
    this.filter = filter;
    this.limit = limit;
    this.strike = strike;
  }

  check() {
    return true;
  }

  async run({ pets }: Catalogue) {
    inject(this.strike);
    expect(await walk(this.limit, this.filter)).toEqual(inOrder(pets, this.filter));
  }

  toString() {
    return `list(${this.filter}, ${this.limit}, ${nameOf(this.strike)})`;
  }
}

/** Creates, lists and gets at the same time: a list in between holds every pet of before, and no other than the new ones. */
class Interleaved implements fc.AsyncCommand<Catalogue, void> {
  readonly newPets: readonly NewPet[];
  readonly limit: number;
  readonly strike: Strike | undefined;

  constructor(newPets: readonly NewPet[], limit: number, strike: Strike | undefined) {
    this.newPets = newPets;
    this.limit = limit;
    this.strike = strike;
  }

  check() {
    return true;
  }

  async run({ pets }: Catalogue) {
    inject(this.strike);
    const before = inOrder(pets);
    const [listed, found, ...responses] = await Promise.all([
      walk(this.limit),
      Promise.all(before.map(({ id }) => invoke(service.getPet, getRequest(apiKey, id)))),
      ...this.newPets.map((newPet) => createUntilDone(newPet)),
    ]);
    expect(found.flatMap(({ text }) => petsOf(text))).toEqual(before);
    const created = responses.flatMap(({ text }) => petsOf(text));
    expect(created).toEqual(
      this.newPets.map((newPet, index) => ({ id: created[index]?.id, ...newPet })),
    );
    for (const pet of created) pets.set(pet.id, pet);
    expect(pets.size).toBe(before.length + created.length);
    const seen = new Map(listed.map((pet) => [pet.id, pet]));
    expect(seen.size).toBe(listed.length);
    for (const pet of before) expect(seen.get(pet.id)).toEqual(pet);
    for (const pet of listed) expect(pets.get(pet.id)).toEqual(pet);
  }

  toString() {
    return `interleaved(${fc.stringify(this.newPets)}, ${this.limit}, ${nameOf(this.strike)})`;
  }
}

/** All pages of a list, by its links. */
const walk = async (limit: number, filter?: Pet['status']): Promise<Pet[]> => {
  const listed: Pet[] = [];
  let query: Record<string, string> | undefined = {
    limit: `${limit}`,
    ...(filter && { status: filter }),
  };
  while (query) {
    const page = await invoke(service.listPets, { headers: bearer(apiKey), query });
    expect(page.status).toBe(200);
    listed.push(...petsOf(page.text));
    const next = nextPageQuery(page.headers['Link']);
    query = next === undefined ? undefined : Object.fromEntries(new URLSearchParams(next));
  }
  return listed;
};

const fieldsOf = ({ name, categoryId, status }: NewPet) => [name, categoryId, status];

const inOrder = (pets: ReadonlyMap<number, Pet>, filter?: Pet['status']) =>
  [...pets.values()]
    .filter(({ status }) => filter === undefined || status === filter)
    .toSorted(
      (left, right) =>
        petStatuses.indexOf(left.status) - petStatuses.indexOf(right.status) || left.id - right.id,
    );

const nameOf = (strike: Strike | undefined) =>
  strike &&
  `${strike.call}: ${Object.entries({ ...faults, ...stalls }).find(([, fault]) => fault === strike.fault)?.[0]}`;

const { accessDenied, resourceNotFound, ...quickFaults } = faults;

const strikeOn = (...calls: string[]) =>
  fc.option(
    fc.record({
      call: fc.constantFrom(...calls),
      // A hanging call costs a second.
      fault: fc.oneof(
        { arbitrary: fc.constantFrom(...Object.values(quickFaults)), weight: 100 },
        { arbitrary: fc.constant(stalls.hang), weight: 1 },
      ),
    }),
    { nil: undefined },
  );

const newPet = fc.record({
  name: fc.constantFrom('Rex', 'Zoë', ' 🐶 '),
  categoryId: fc.constantFrom(0, -1, 2n ** 63n - 1n, -(2n ** 63n), Number.MAX_SAFE_INTEGER),
  status: fc.constantFrom(...petStatuses),
});

const commands = fc.commands(
  [
    fc
      .tuple(newPet, strikeOn('PutItem Pets', 'GetItem Keys'))
      .map(([pet, strike]) => new Create(pet, undefined, 1, strike)),
    fc
      .tuple(
        newPet,
        fc.constantFrom('a', 'b'),
        fc.integer({ min: 1, max: 4 }),
        strikeOn('PutItem Pets'),
      )
      .map(([pet, key, copies, strike]) => new Create(pet, key, copies, strike)),
    fc.tuple(fc.nat(20), strikeOn('GetItem Pets')).map(([index, strike]) => new Get(index, strike)),
    fc
      .tuple(
        fc.option(fc.constantFrom(...petStatuses), { nil: undefined }),
        fc.integer({ min: 1, max: 5 }),
        strikeOn('Query Pets'),
      )
      .map(([filter, limit, strike]) => new List(filter, limit, strike)),
    fc
      .tuple(
        fc.array(newPet, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 5 }),
        strikeOn('PutItem Pets', 'Query Pets', 'GetItem Pets'),
      )
      .map(([pets, limit, strike]) => new Interleaved(pets, limit, strike)),
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
      const catalogue: Catalogue = { pets: new Map(), creations: new Map(), run: randomUUID() };
      await service.deletePets();
      await fc.asyncModelRun(() => ({ model: catalogue, real: undefined }), sequence);
      service.proxy.reset();
      const stored = await service.storedPets();
      expect(stored).toHaveLength(catalogue.pets.size);
      for (const pet of stored) expect(pet).toMatchObject({ ...catalogue.pets.get(pet['id']) });
    }),
    { numRuns: runsOf(30, 1_000), seed },
  );
});
