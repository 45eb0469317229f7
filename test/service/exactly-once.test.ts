import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import { candidateId, creationOf } from '../../lib/pets/creation.ts';
import { faults } from '../support/fault-proxy.ts';
import {
  bearer,
  captureLog,
  createRequest,
  expectOneFailure,
  getRequest,
  invoke,
  startHandlers,
} from '../support/handlers.ts';

const service = await startHandlers();
const apiKey = await service.issueApiKey({ owner: 'alice' });

beforeEach(() => service.proxy.reset());

const rex = { name: 'Rex', categoryId: 1 };

const create = (idempotencyKey?: string, pet: object = rex, key = apiKey) =>
  invoke(
    service.createPet,
    createRequest(key, pet, idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
  );

const named = async (name: string) =>
  (await service.storedPets()).filter((pet) => pet['name'] === name);

describe('a creation whose answer is lost', () => {
  it.each([
    ['with', randomUUID()],
    ['without', undefined],
  ])('is recognised by the retry inside the service, %s an Idempotency-Key', async (_, key) => {
    const name = randomUUID();
    service.proxy.inject('PutItem Pets', faults.resetAfterForwarding, 1);
    const { status, body } = await create(key, { ...rex, name });
    expect(status).toBe(201);
    expect(service.proxy.requests.filter((request) => request === 'PutItem Pets')).toHaveLength(2);
    expect(await named(name)).toMatchObject([body]);
  });
});

describe('an Idempotency-Key', () => {
  it('belongs to the owner of the API key, whichever key the owner uses', async () => {
    const key = randomUUID();
    const aliceToo = await service.issueApiKey({ owner: 'alice' });
    const bob = await service.issueApiKey({ owner: 'bob' });
    const first = await create(key);
    expect((await create(key, rex, aliceToo)).text).toBe(first.text);
    expect((await create(key, rex, bob)).body.id).not.toBe(first.body.id);
  });

  it('replays the pet as it is now, even when the pet was changed since', async () => {
    const key = randomUUID();
    const { body } = await create(key);
    const [stored] = (await service.storedPets()).filter(({ id }) => id === body.id);
    await service.dynamodb.send(
      new PutCommand({ TableName: service.tables.pets, Item: { ...stored, status: 'sold' } }),
    );
    const replay = await create(key);
    expect(replay.status).toBe(201);
    expect(replay.body).toEqual({ ...body, status: 'sold' });
    expect((await create(key, { ...rex, status: 'sold' })).status).toBe(422);
  });
});

describe('an id that is taken', () => {
  const occupy = (id: number) =>
    service.dynamodb.send(
      new PutCommand({
        TableName: service.tables.pets,
        Item: { id, ...rex, status: 'available', creation: Buffer.alloc(32) },
      }),
    );

  it('is left to its pet: the creation takes its next candidate, where its replay finds it', async () => {
    const [name, key] = [randomUUID(), randomUUID()];
    const creation = creationOf({ owner: 'alice', key });
    await occupy(candidateId(creation, 0));
    await occupy(candidateId(creation, 1));
    const { status, body, text } = await create(key, { ...rex, name });
    expect(status).toBe(201);
    expect(body.id).toBe(candidateId(creation, 2));
    expect((await create(key, { ...rex, name })).text).toBe(text);
    expect(await named(name)).toHaveLength(1);
    const occupant = await invoke(service.getPet, getRequest(apiKey, candidateId(creation, 0)));
    expect(occupant.body.name).toBe('Rex');
  });

  it('ends in 500 when every candidate is taken', async () => {
    const key = randomUUID();
    const creation = creationOf({ owner: 'alice', key });
    for (let attempt = 0; attempt < 8; attempt += 1) await occupy(candidateId(creation, attempt));
    const lines = captureLog();
    expect((await create(key)).status).toBe(500);
    expectOneFailure(lines, { operation: 'createPet', code: 'internal_error' });
  });
});

describe('requests in one process', () => {
  it('share nothing when they are interleaved', async () => {
    const owners = Array.from({ length: 10 }, (_, number) => `owner ${number}`);
    const key = randomUUID();
    const created = await Promise.all(
      owners.map(async (owner) => {
        const ownKey = await service.issueApiKey({ owner });
        const pet = { name: `pet of ${owner}`, categoryId: 9007199254740993n };
        const request = createRequest(ownKey, pet, { 'Idempotency-Key': key });
        const [mine, refused, again] = await Promise.all([
          invoke(service.createPet, request),
          invoke(service.createPet, { ...request, headers: bearer(`${ownKey}0`) }),
          invoke(service.createPet, request),
        ]);
        expect(refused.status).toBe(401);
        expect(again.text).toBe(mine.text);
        expect(mine.text).toContain(stringifyJson(pet).slice(1, -1));
        return mine.body.id;
      }),
    );
    expect(new Set(created).size).toBe(owners.length);
  });
});
