import autocannon from 'autocannon';
import { InvalidArgumentError, program } from 'commander';
import { startLocalService } from '../../infra/local/local-service.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';

const newPet = { name: 'Rex', categoryId: 1 };
const fullPage = 20;

interface Options {
  readonly requests: number;
  readonly connections: number;
}

/**
 * Prints what autocannon measured, and compares the catalogue with the answers: as many pets as 201s, each
 * with an id of its own. Throws for any error or difference.
 */
const run = async ({ requests: amount, connections }: Options) => {
  const service = await startLocalService({ progress: console.log });
  try {
    const { baseAddress, apiKey } = service;
    const client = new AnimalStore({ baseAddress, apiKey });
    const added = await Promise.all(
      Array.from({ length: fullPage }, () => client.createPet(newPet)),
    );
    const result = await autocannon({
      url: baseAddress,
      connections,
      amount,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      requests: [
        { method: 'POST', path: '/v1/pets', body: JSON.stringify(newPet) },
        { method: 'GET', path: '/v1/pets?status=available' },
        { method: 'GET', path: `/v1/pets/${added[0]?.id}` },
      ],
    });
    console.log(autocannon.printResult(result));

    const created = fullPage + (result.statusCodeStats?.['201']?.count ?? 0);
    const pets = await Array.fromAsync(client.listPets({ limit: maxLimit }));
    const distinct = new Set(pets.map((pet) => pet.id)).size;
    console.log(
      `${created} creations answered with 201, ${pets.length} pets listed, ${distinct} ids`,
    );
    const failures = result.errors + result.timeouts + result.non2xx;
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
