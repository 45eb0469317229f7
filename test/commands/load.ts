import autocannon from 'autocannon';
import { InvalidArgumentError, Option, program } from 'commander';
import { startLocalService } from '../../infra/local/local-service.ts';
import { messageOf } from '../../infra/message-of.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';

interface Options {
  readonly requests: number;
  readonly connections: number;
  readonly only?: Kind;
}

const fullPage = 20;
const newPet = { name: 'Rex', categoryId: 1 };

/** What is sent; the path of `get` ends in an id that is known only at run time. */
const kinds = {
  create: { method: 'POST', path: '/v1/pets', body: JSON.stringify(newPet) },
  list: { method: 'GET', path: '/v1/pets?status=available' },
  get: { method: 'GET', path: '/v1/pets/' },
} as const;
type Kind = keyof typeof kinds;

/**
 * Prints what autocannon measured, and compares the catalogue with the answers: as many pets as 201s, each with an id of
 * its own. Throws for any error or difference.
 */
const run = async ({ requests, connections, only }: Options) => {
  const service = await startLocalService({ progress: console.log });
  try {
    const { baseAddress, apiKey } = service;
    const client = new AnimalStore({ baseAddress, apiKey });
    const { id } = await client.createPet(newPet);
    for (let count = 1; count < fullPage; count += 1) await client.createPet(newPet);

    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const sent: Kind[] = only === undefined ? ['create', 'list', 'get'] : [only];
    const result = await autocannon({
      url: baseAddress,
      connections,
      amount: requests,
      requests: sent.map((kind) => {
        const { path } = kinds[kind];
        return { ...kinds[kind], headers, path: kind === 'get' ? `${path}${id}` : path };
      }),
    });
    console.log(autocannon.printResult(result));

    const created = fullPage + (result.statusCodeStats?.['201']?.count ?? 0);
    const pets = await Array.fromAsync(client.listPets({ limit: 100 }));
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
  .name('npm run load --')
  .description(
    'Sends many requests to the local service: lists, gets and creations in equal parts.',
  )
  .option('--requests <count>', 'how many', positive, 10_000)
  .option('--connections <count>', 'how many at once', positive, 10)
  .addOption(new Option('--only <kind>', 'one kind of request').choices(Object.keys(kinds)))
  .action(run);

try {
  await program.parseAsync();
} catch (error) {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
}
