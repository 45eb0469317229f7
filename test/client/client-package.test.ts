import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';

const baseAddress = inject('baseAddress');
const apiKey = inject('apiKey');

let consumer: string;

const run = (cwd: string, command: string, ...options: string[]) =>
  promisify(execFile)(command, options, { cwd });
const tsc = join(projectDirectory, 'node_modules', 'typescript', 'bin', 'tsc');

/** The TypeScript examples of a document, as one module that calls the service of this test. */
const exampleOf = async (document: string) => {
  const text = await readFile(join(projectDirectory, document), 'utf8');
  const examples = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example);
  expect(examples.join()).toContain("'http://127.0.0.1:3000/v1'");
  return examples
    .join('')
    .replace('http://127.0.0.1:3000/v1', baseAddress)
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
  it('runs the examples of its README in a project of its own', async () => {
    await writeFile(join(consumer, 'example.ts'), await exampleOf('lib/client/README.md'));
    const { stdout } = await run(consumer, process.execPath, 'example.ts');
    expect(stdout).toMatch(/^\d+ Rex available\n[1-5] pets\n\d+ .*\n400 invalid_request\n$/s);
  });

  it('takes at most 10 KB when compressed', async () => {
    const file = join(consumer, 'node_modules', 'animal-store-client', 'animal-store.js');
    expect(gzipSync(await readFile(file)).length).toBeLessThanOrEqual(10 * 1_024);
  });

  it('has declarations that import nothing from outside the package', async () => {
    const types = join(consumer, 'node_modules', 'animal-store-client', 'types');
    const files = await readdir(types, { recursive: true });
    const declarations = files.filter((file) => file.endsWith('.d.ts')).sort();
    expect(declarations).toEqual(['client/animal-store.d.ts', 'contract/bodies.d.ts']);
    for (const file of declarations) {
      const text = await readFile(join(types, file), 'utf8');
      const imports = [...text.matchAll(/from '([^']*)'|import\('([^']*)'\)/g)].map(
        ([, from, dynamic]) => join('contract', from ?? dynamic ?? ''),
      );
      for (const path of imports) expect(`${path}`).toBe('contract/bodies.ts');
    }
  });

  it('refuses to be constructed where JSON cannot keep 64-bit integers, as in Node.js 20', async () => {
    await writeFile(
      join(consumer, 'old.ts'),
      `import { AnimalStore } from 'animal-store-client';
delete Object(JSON).rawJSON;
new AnimalStore({ baseAddress: '', apiKey: '' });`,
    );
    await expect(run(consumer, process.execPath, 'old.ts')).rejects.toThrow('use Node.js 22');
  });

  it('checks the types of those who use it', async () => {
    const types = join(projectDirectory, 'node_modules', '@types');
    await symlink(types, join(consumer, 'node_modules', '@types'));
    await writeFile(join(consumer, 'example.ts'), await exampleOf('lib/client/README.md'));
    await writeFile(join(consumer, 'project.ts'), await exampleOf('README.md'));
    await writeFile(
      join(consumer, 'wrong.ts'),
      `import { AnimalStore, type Pet } from 'animal-store-client';
const store = new AnimalStore({ baseAddress: '', apiKey: '' });
export const pet: Pet = await store.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n });
// @ts-expect-error: the category is missing
await store.createPet({ name: 'Rex' });
// @ts-expect-error: there is no such status
store.listPets({ status: 'lost' });
store.listPets({ status: undefined, limit: undefined });
// @ts-expect-error: a bigint is no number
export const category: number = pet.categoryId;
`,
    );
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--types', 'node'];
    options.push('--target', 'ESNext', '--module', 'NodeNext');
    options.push('example.ts', 'project.ts', 'wrong.ts');
    const { stdout } = await run(consumer, process.execPath, tsc, ...options);
    expect(stdout).toBe('');
  });
});
