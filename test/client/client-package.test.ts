import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';

const baseAddress = inject('baseAddress');
const apiKey = inject('apiKey');

let consumer: string;

const run = (cwd: string, command: string, ...options: string[]) =>
  promisify(execFile)(command, options, { cwd });
const tsc = join(projectDirectory, 'node_modules', 'typescript', 'bin', 'tsc');

/** The README's example, for the service of this test, in larger pages, for other tests add pets too. */
const readmeExample = async () => {
  const readme = await readFile(join(projectDirectory, 'README.md'), 'utf8');
  const example = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
  expect(example).toContain("'http://127.0.0.1:3000/v1'");
  expect(example).toContain("readFileSync('.local/api-key', 'utf8')");
  return example
    .replace('http://127.0.0.1:3000/v1', baseAddress)
    .replace('limit: 5,', 'limit: 100,')
    .replace('.local/api-key', join(consumer, 'api-key'));
};

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'animal-store-consumer-'));
  await run(projectDirectory, process.execPath, 'infra/commands/client.ts');
  const packed = join(projectDirectory, '.build', 'client');
  const { stdout } = await run(consumer, 'npm', 'pack', '--silent', packed);
  await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
  await writeFile(join(consumer, 'api-key'), apiKey);
  const options = ['--silent', '--offline', '--no-audit', '--no-fund'];
  await run(consumer, 'npm', 'install', ...options, `./${stdout.trim()}`);
});

afterAll(() => rm(consumer, { recursive: true, force: true }));

describe('the package of the typed client', () => {
  it("runs the README's example in a project of its own", async () => {
    const store = new AnimalStore({ baseAddress, apiKey });
    const { id } = await store.createPet({ name: 'Rex', categoryId: 1 });
    await writeFile(join(consumer, 'example.ts'), await readmeExample());
    await expect
      .poll(async () => (await run(consumer, process.execPath, 'example.ts')).stdout, {
        timeout: 60_000,
      })
      .toContain(`${id} Rex\n`);
  });

  it('checks the types of those who use it', async () => {
    const types = join(projectDirectory, 'node_modules', '@types');
    await symlink(types, join(consumer, 'node_modules', '@types'));
    await writeFile(join(consumer, 'example.ts'), await readmeExample());
    await writeFile(
      join(consumer, 'wrong.ts'),
      `import { AnimalStore, type Pet } from 'animal-store-client';
const store = new AnimalStore({ baseAddress: '', apiKey: '' });
export const pet: Pet = await store.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n });
// @ts-expect-error: the category is missing
await store.createPet({ name: 'Rex' });
// @ts-expect-error: there is no such status
store.listPets({ status: 'lost' });
// @ts-expect-error: a bigint is no number
export const category: number = pet.categoryId;
`,
    );
    const options = ['--noEmit', '--strict', '--module', 'NodeNext', '--types', 'node'];
    const { stdout } = await run(
      consumer,
      process.execPath,
      tsc,
      '--target',
      'ESNext',
      ...options,
      'example.ts',
      'wrong.ts',
    );
    expect(stdout).toBe('');
  });
});
