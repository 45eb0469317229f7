import pLimit from 'p-limit';
import { startLocalService } from '../../infra/local/local-service.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { sendTo } from '../support/http-client.ts';

const newPet = { name: 'Rex', categoryId: 1 };
const fullPage = 20;
const requests = 10_000;
const connections = 10;

/*
 * Sends lists, gets and creations in equal parts to the local service, and compares the catalogue with the
 * responses: as many pets as 201s, each with an id of its own.
 */
const service = await startLocalService({ progress: console.log });
try {
  const { baseAddress, apiKey } = service;
  const client = new AnimalStore({ baseAddress, apiKey });
  const added = await Promise.all(Array.from({ length: fullPage }, () => client.createPet(newPet)));
  const headers = [
    ['Authorization', `Bearer ${apiKey}`],
    ['Content-Type', 'application/json'],
  ] as const;
  const kinds = [
    { method: 'POST', path: '/pets', headers, body: JSON.stringify(newPet) },
    { path: '/pets?status=available', headers },
    { path: `/pets/${added[0]?.id}`, headers },
  ];
  const rounds = Array.from({ length: Math.ceil(requests / kinds.length) }, () => kinds);
  const statuses = await pLimit(connections).map(
    rounds.flat(),
    async (request) => (await sendTo(baseAddress, request)).status,
  );

  const created = fullPage + statuses.filter((status) => status === 201).length;
  const pets = await Array.fromAsync(client.listPets({ limit: maxLimit }));
  const distinct = new Set(pets.map((pet) => pet.id)).size;
  console.log(`${created} creations got 201, ${pets.length} pets listed, ${distinct} ids`);
  const failures = statuses.filter((status) => status >= 300).length;
  if (failures > 0) throw new Error(`${failures} requests failed`);
  if (created !== pets.length || created !== distinct) throw new Error('Pets were lost or doubled');
} finally {
  await service.stop();
}
