import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { clientPackage } from '../../infra/settings/owner.ts';
import { copyProject } from '../start/npm-start.ts';
import { findProgram } from '../support/find-program.ts';
import { listen } from '../support/listen.ts';
import { shared } from '../support/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const baseAddress = shared('baseAddress');
const apiKey = shared('apiKey');

const chromiumPath = findProgram(['chromium', 'google-chrome']);
if (!chromiumPath) console.info('No browser tries the typed client: there is no Chromium here.');

const run = (cwd: string, command: string, ...options: string[]) =>
  promisify(execFile)(command, options, {
    cwd,
    env: { ...process.env, BASE_URL: baseAddress, API_KEY: apiKey },
  });
const tsc = join(projectDirectory, 'node_modules', 'typescript', 'bin', 'tsc');

/** The examples of its README in a language, as one module. */
const exampleIn = async (language: 'ts' | 'js') => {
  const text = await readFile(join(projectDirectory, 'lib/client/README.md'), 'utf8');
  const examples = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return examples.map(([, name, example]) => (name === language ? example : '')).join('');
};

const consumer = await temporaryFolder(afterAll);
await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
// A link would find the packages of the project.
const flags = ['--silent', '--offline', '--no-audit', '--no-fund', '--install-links'];
const project = await copyProject(afterAll);
await run(project, process.execPath, 'infra/commands/client.ts');
await run(consumer, 'npm', 'install', ...flags, join(project, '.build/client'));
const bundle = await readFile(join(consumer, 'node_modules', clientPackage, 'animal-store.js'));

describe('the package of the typed client', () => {
  it('runs the examples of its README in a project of its own', async () => {
    await writeFile(join(consumer, 'example.ts'), await exampleIn('ts'));
    const { stdout } = await run(consumer, process.execPath, 'example.ts');
    expect(stdout).toMatch(/^\d+ Rex available\n[1-5] pets\n\d+ .*\n400 invalid_request\n$/s);
    await writeFile(join(consumer, 'example.cjs'), await exampleIn('js'));
    const inCommonJs = await run(consumer, process.execPath, 'example.cjs');
    expect(inCommonJs).toMatchObject({
      stdout: expect.stringMatching(/^[1-5] pets\n$/),
      stderr: '',
    });
  });

  it('lets build tools read its package.json', async () => {
    const code = `import manifest from '${clientPackage}/package.json' with { type: 'json' };
console.log(manifest.name);`;
    const { stdout } = await run(consumer, process.execPath, '--input-type=module', '-e', code);
    expect(stdout).toBe(`${clientPackage}\n`);
  });

  it('is published for everybody', async () => {
    // Without --force, npm also asks the registry whether the version is published already.
    const words = ['publish', '--dry-run', '--force', '--loglevel=notice', './.build/client'];
    const { stderr } = await run(project, 'npm', ...words);
    expect(stderr).toContain('public access');
  });

  it('takes less than 8 KB when compressed', () => {
    expect(gzipSync(bundle).length).toBeLessThan(8 * 1_024);
  });

  it('shows an uncaught error in readable lines, with the reason of the platform', async () => {
    const server = createServer();
    const closed = `http://127.0.0.1:${await listen(server)}/v1`;
    await promisify(server.close.bind(server))();
    const options = { baseAddress: closed, apiKey, maxRetryWaitMs: 0 };
    const code = `import { AnimalStore } from '${clientPackage}';
await new AnimalStore(${JSON.stringify(options)}).getPet(1);`;
    const called = run(consumer, process.execPath, '--input-type=module', '--eval', code);
    const { stderr } = await called.catch((error: unknown) => Object(error));
    expect(stderr).toMatch(/^NetworkError: No complete response came: connect ECONNREFUSED/m);
    expect(stderr).toMatch(/\[cause\]: Error: .* \{\n +code: 'ECONNREFUSED'/s);
    const lengths = `${stderr}`.split('\n').map((line) => line.length);
    expect(Math.max(...lengths)).toBeLessThan(200);
  });

  it.skipIf(!chromiumPath)(
    'adds a pet with a category of 64 bits from a web page without TLS',
    async () => {
      const hosts = '--host-resolver-rules=MAP intranet.test 127.0.0.1';
      const args = ['--no-sandbox', hosts];
      const browser = await chromium.launch({ executablePath: chromiumPath ?? '', args });
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      // A page of the service's own origin, which needs no CORS.
      const options = { baseAddress: baseAddress.replace('127.0.0.1', 'intranet.test'), apiKey };
      await page.goto(`${options.baseAddress}/pets`);
      const returned = await page.evaluate(`(async () => {
        const code = 'data:text/javascript;base64,${bundle.toString('base64')}';
        const store = new (await import(code)).AnimalStore(${JSON.stringify(options)});
        return [isSecureContext, await store.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n })];
      })()`);
      expect(returned).toMatchObject([false, { categoryId: 2n ** 63n - 1n }]);
    },
  );

  it('refuses to be constructed where JSON cannot keep 64-bit integers, as in Node.js 20', async () => {
    const code = `import { AnimalStore } from '${clientPackage}';
delete JSON.rawJSON; new AnimalStore({});`;
    const called = run(consumer, process.execPath, '--input-type=module', '--eval', code);
    await expect(called).rejects.toThrow('use Node.js 22');
  });

  it('checks the types of the code that uses it', async () => {
    const types = 'node_modules/@types';
    await symlink(join(projectDirectory, types), join(consumer, types));
    await writeFile(
      join(consumer, 'wrong.ts'),
      `import { AnimalStore, type AnimalStoreOptions, type Pet } from '${clientPackage}';
const store = new AnimalStore({ baseAddress: '', apiKey: '' });
export const pet: Pet = await store.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n });
// @ts-expect-error: the category is missing
await store.createPet({ name: 'Rex' });
// @ts-expect-error: there is no such status
store.listPets({ status: 'lost' });
store.listPets({ status: undefined, limit: undefined });
// @ts-expect-error: a bigint is no number
export const category: number = pet.categoryId;
// @ts-expect-error: a service can send a new status
export const status: 'available' | 'pending' | 'sold' = pet.status;
export const absent: AnimalStoreOptions = {
  ...{ baseAddress: '', apiKey: '', timeoutMs: undefined, maxRetryWaitMs: undefined, fetch: undefined },
};
store.getPet(1, { signal: undefined });
export const platform: AnimalStoreOptions['fetch'] = fetch;
export const wrapper: AnimalStoreOptions['fetch'] = (url, init) => fetch(url, { ...init, keepalive: true });
// The client leaves the types of the platform as they are.
export const parsed: { at: Date } = JSON.parse('{}', (key, value) => (key === 'at' ? new Date(value) : value));
`,
    );
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--types', 'node'];
    const modules = ['--target', 'ESNext', '--module', 'NodeNext', '--allowJs', '--checkJs'];
    const files = ['wrong.ts', 'example.ts', 'example.cjs'];
    const { stdout } = await run(consumer, process.execPath, tsc, ...options, ...modules, ...files);
    expect(stdout).toBe('');
  });
});
