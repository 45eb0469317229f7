import { cp, glob, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { bundleDirectory, codeCacheFile, entryModule } from '../../infra/build/bundle-functions.ts';
import { addCodeCaches, makeCodeCache } from '../../infra/build/code-caches.ts';
import { codeHash } from '../../infra/constructs/bundled-function.ts';
import { bundleName, execWrapper, functionNames } from '../../infra/settings/names.ts';
import { copyProject, editIn } from '../start/npm-start.ts';
import { DynamodbStandIn } from '../support/dynamodb-stand-in.ts';
import { exampleRequest } from '../support/events.ts';
import { lambdaFlags, runLambda } from '../support/lambda-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const standIn = await DynamodbStandIn.start();
afterAll(() => standIn[Symbol.asyncDispose]());

/** A function in a folder of its own. */
interface DeployedFunction {
  readonly directory: string;
  readonly name: string;
}

/** A copy of what is deployed of a function, without a cache. */
const deployed = async (name: string): Promise<DeployedFunction> => {
  const directory = await temporaryFolder();
  for (const file of [`${name}.cjs`, `${name}.mjs`, execWrapper])
    await cp(join(bundleDirectory(name), file), join(directory, file));
  return { directory, name };
};

/** A function `f` with this bundle. */
const functionWith = async (bundle: string): Promise<DeployedFunction> => {
  const directory = await temporaryFolder();
  await writeBundle(directory, bundle);
  await cp(join(bundleDirectory('fallback'), execWrapper), join(directory, execWrapper));
  return { directory, name: 'f' };
};

const writeBundle = async (directory: string, bundle: string) => {
  await writeFile(join(directory, 'f.cjs'), bundle);
  await writeFile(join(directory, 'f.mjs'), entryModule('f', bundle));
};

/** The path of a function's cache. */
const cacheOf = async ({ directory, name }: DeployedFunction) =>
  join(directory, codeCacheFile(name, await readFile(join(directory, `${name}.cjs`), 'utf8')));

/** Makes the cache of a function for this machine, as the build makes it for Lambda. */
const cacheFor = ({ directory, name }: DeployedFunction) =>
  makeCodeCache(join(directory, `${name}.mjs`));

/** Runs a function as Lambda does, with its wrapper or without. Returns its response and its line. */
const start = async (
  { directory, name }: DeployedFunction,
  event: unknown,
  wrapper = [join(directory, execWrapper)],
) => {
  const { environment } = standIn;
  const module = join(directory, `${name}.mjs`);
  const node = [...wrapper, process.execPath];
  const options = { module, environment, events: [event], node, flags: lambdaFlags };
  const { invocations, printed } = await runLambda(options);
  return { response: invocations[0], line: printed === '' ? {} : JSON.parse(printed) };
};

const getPet = () => exampleRequest('getPet', standIn.apiKey).event;

describe('a function', () => {
  /** Writes the file of a cache, or something else in its place. */
  type WriteCache = (file: string, cache: Buffer) => Promise<unknown>;

  it.each<[state: string, expected: string, write: WriteCache, wrapper?: string[]]>([
    ['is absent', 'absent', async () => {}],
    ['can’t be read', 'absent', (file) => mkdir(file)],
    [
      'is of another version of Node.js',
      'absent',
      (file, cache) => writeFile(file.replace(process.version, 'v24.0.0'), cache),
    ],
    ['was made with other V8 flags, because it has no wrapper', 'rejected', writeFile, []],
  ])('responds when its cache %s', async (_state, expected, write, wrapper) => {
    const target = await deployed('get-pet');
    await write(await cacheOf(target), await cacheFor(target));
    const { response, line } = await start(target, getPet(), wrapper);
    expect(response?.statusCode).toBe(200);
    expect(line.codeCache).toBe(expected);
  });
});

it('the cache of another program of equal length is never used', async () => {
  const program = (body: string) =>
    `const body = '${body}'; exports.handler = async () => ({ statusCode: 200, body });`;
  const target = await functionWith(program('first'));
  await writeFile(await cacheOf(target), await cacheFor(target));
  await writeBundle(target.directory, program('other'));
  expect((await start(target, {})).response?.body).toBe('other');
});

describe('a build', () => {
  it('adds a cache to each function that clients call, on a machine like those of Lambda', async () => {
    const path = await copyProject();
    const { bundleFunctions, bundleDirectory: directoryOf } = await import(
      join(path, 'infra/build/bundle-functions.ts')
    );
    const { addCodeCaches } = await import(join(path, 'infra/build/code-caches.ts'));
    await bundleFunctions();
    const machine = `${process.platform}-${process.arch}`;
    await addCodeCaches(machine);
    for (const functionName of functionNames) {
      const name = bundleName(functionName);
      const { event, status } = exampleRequest(functionName, standIn.apiKey);
      const { line } = await start({ directory: directoryOf(name), name }, event);
      expect(line).toMatchObject({ codeCache: 'hit', nodeVersion: process.version, status });
    }
    expect(await readdir(directoryOf('probe'))).toEqual(['probe.cjs', 'probe.mjs']);

    // A function that can't be initialised gets none, and the others do.
    await bundleFunctions();
    await writeFile(join(directoryOf('get-pet'), 'get-pet.mjs'), "throw new Error('on purpose');");
    const print = vi.spyOn(console, 'error').mockReturnValue();
    await addCodeCaches(machine);
    expect(print.mock.calls).toEqual([
      ['get-pet gets no code cache, and starts slower: Error: on purpose'],
    ]);
    const cached = await Array.fromAsync(glob(join(directoryOf('*'), '*.cache')));
    expect(cached).toHaveLength(functionNames.length - 1);
  });

  it('says in one line why it adds none elsewhere', async () => {
    const print = vi.spyOn(console, 'error').mockReturnValue();
    await addCodeCaches('another machine');
    expect(print.mock.calls).toEqual([
      ['The functions get no code cache, and start slower: this is not another machine.'],
    ]);
  });

  it('fails without the cache of a function only if each must have one, as in a release', async () => {
    const project = await copyProject();
    await writeFile(join(project, 'functions/get-pet.ts'), "throw new Error('on purpose');");
    const { withAssembly } = await import(join(project, 'infra/build/with-assembly.ts'));
    const synthesise = (codeCache: string) =>
      withAssembly(async () => 'done', { context: { 'code-cache': codeCache } });
    await expect(synthesise('required')).rejects.toThrow(/^error: .*gets no code cache$/m);
    expect(await synthesise('on')).toBe('done');
  });

  it.each([
    [
      'waits for nothing',
      'exports.initialise = () => new Promise(() => undefined);',
      /it ends before/,
    ],
    [
      'never ends',
      'exports.initialise = () => new Promise(() => setInterval(() => undefined, 1_000));',
      /takes longer than 2 s/,
    ],
  ])('gives up a function whose initialisation %s', async (_what, bundle, reason) => {
    const { directory } = await functionWith(bundle);
    await expect(makeCodeCache(join(directory, 'f.mjs'), 2_000)).rejects.toThrow(reason);
  });

  it('deploys a function again unless only the bytes of its cache differ', async () => {
    const folder = await temporaryFolder();
    const hashWith = async (file: string, contents: string) => {
      await writeFile(join(folder, file), contents);
      return codeHash(folder);
    };
    const without = await hashWith('f.cjs', 'one');
    const cached = await hashWith('f.v24.1.0.cache', 'bytes');
    expect(await hashWith('f.v24.1.0.cache', 'other bytes')).toBe(cached);
    // V8 accepts no cache that was made under other flags.
    setFlagsFromString('--allow-natives-syntax');
    const withFlag = codeHash(folder);
    setFlagsFromString('--no-allow-natives-syntax');
    const project = await copyProject();
    await editIn(project, 'infra/build/make-code-cache.mjs', 'await import', 'import');
    const edited = await import(join(project, 'infra/constructs/bundled-function.ts'));
    const madeOtherwise = edited.codeHash(folder);
    const rebuilt = await hashWith('f.cjs', 'two');
    await rename(join(folder, 'f.v24.1.0.cache'), join(folder, 'f.v24.2.0.cache'));
    const patched = codeHash(folder);
    expect(new Set([without, cached, withFlag, madeOtherwise, rebuilt, patched]).size).toBe(6);
  });
});
