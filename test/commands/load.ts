import { InvalidArgumentError, program } from 'commander';
import pLimit from 'p-limit';
import { startLocalService } from '../../infra/local/local-service.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { sendTo } from '../support/http-client.ts';

const newPet = { name: 'Rex', categoryId: 1 };
const fullPage = 20;

interface Options {
  readonly requests: number;
  readonly connections: number;
}

/**
 * Prints how fast the service responds, and compares the catalogue with the responses: as many pets as 201s,
 * each with an id of its own. Throws for any error or difference.
 */
const run = async ({ requests, connections }: Options) => {
  const service = await startLocalService({ progress: console.log });
  try {
    const { baseAddress, apiKey } = service;
    const client = new AnimalStore({ baseAddress, apiKey });
    const added = await Promise.all(
      Array.from({ length: fullPage }, () => client.createPet(newPet)),
    );
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
    const start = performance.now();
    const responses = await pLimit(connections).map(rounds.flat(), async (request) => {
      const sent = performance.now();
      const { status } = await sendTo(baseAddress, request);
      return { status, ms: performance.now() - sent };
    });
    const seconds = (performance.now() - start) / 1_000;
    const times = responses.map(({ ms }) => ms).sort((one, other) => one - other);
    const [median, most, slowest] = [0.5, 0.99, 1].map((part) =>
      times[Math.ceil(part * times.length) - 1]?.toFixed(0),
    );
    console.log(
      `${times.length} requests in ${seconds.toFixed(1)} s: half within ${median} ms, 99 % within ${most} ms, the slowest in ${slowest} ms`,
    );

    const created = fullPage + responses.filter(({ status }) => status === 201).length;
    const pets = await Array.fromAsync(client.listPets({ limit: maxLimit }));
    const distinct = new Set(pets.map((pet) => pet.id)).size;
    console.log(`${created} creations got 201, ${pets.length} pets listed, ${distinct} ids`);
    const failures = responses.filter(({ status }) => status >= 300).length;
    if (failures > 0) throw new Error(`${failures} requests failed`);
    if (created !== pets.length || created !== distinct)
      throw new Error('Pets were lost or doubled');
  } finally {
    await service.stop();
  }
};

const positive = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
};

program
  .name('node test/commands/load.ts')
  .description(
    'Sends many requests to the local service: lists, gets and creations in equal parts.',
  )
  .option('--requests <count>', 'how many', positive, 10_000)
  .option('--connections <count>', 'how many at once', positive, 10)
  .action(run);

await program.parseAsync();
