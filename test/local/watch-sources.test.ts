import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Rebuild, watchSources } from '../../infra/local/watch-sources.ts';

const patience = { timeout: 30_000, interval: 10 };

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const temporaryFolder = async (prefix: string) => {
  const folder = await mkdtemp(prefix);
  cleanups.push(() => rm(folder, { recursive: true }));
  return folder;
};

/** Starts a watch that stops with the tests; returns the lines that it reports. */
const startWatch = async (directory: string, rebuild: Rebuild) => {
  const lines: string[] = [];
  const report = (line: string) => lines.push(line);
  const sources = await watchSources({ directories: [directory], report });
  cleanups.push(sources.stop);
  sources.rebuildWith(rebuild);
  return lines;
};

/** The folders whose modules only `npm start` itself runs. */
const ownFolders = ['infra/build', 'infra/local', 'lib/api-gateway', 'lib/openapi'];

/** A folder with the sources of one handler, and how often a watch of it has called for a rebuild. */
const watchedFolder = async () => {
  const root = await temporaryFolder(join(tmpdir(), 'Straße mit Umläuten '));
  const functions = join(root, 'project', 'functions');
  for (const folder of ['functions', ...ownFolders])
    await mkdir(join(root, 'project', folder), { recursive: true });
  const handler = join(functions, 'get-pet.ts');
  await writeFile(handler, 'version 0');
  let rebuilds = 0;
  const lines = await startWatch(join(root, 'project'), async () => {
    rebuilds += 1;
  });
  /** Does something, and waits until the watch has called for a rebuild and is quiet again. */
  const noticed = async (change: () => Promise<unknown>) => {
    const before = rebuilds;
    await change();
    await vi.waitFor(() => expect(rebuilds).toBeGreaterThan(before), patience);
    await pause(200);
  };
  return { root, functions, handler, lines, noticed, rebuilds: () => rebuilds };
};

type Folder = Awaited<ReturnType<typeof watchedFolder>>;

const git = (cwd: string, ...args: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
    cwd,
  });

const waysToSave: Readonly<Record<string, (folder: Folder) => Promise<unknown>>> = {
  'in place': ({ handler }) => writeFile(handler, 'in place'),
  'by a rename over it, as editors do': async ({ functions, handler }) => {
    await writeFile(join(functions, '.get-pet.ts.swp'), 'renamed');
    await rename(join(functions, '.get-pet.ts.swp'), handler);
  },
  'by a rename from another folder': async ({ root, handler }) => {
    await writeFile(join(root, 'draft'), 'renamed');
    await rename(join(root, 'draft'), handler);
  },
  'after it became a backup, as vim does': async ({ handler }) => {
    await rename(handler, `${handler}~`);
    await writeFile(handler, 'new');
    await rm(`${handler}~`);
  },
  'by git stash, stash pop and checkout': async ({ root, handler, functions }) => {
    await git(root, 'init', '--quiet', '--initial-branch', 'one');
    await git(root, 'add', '.');
    await git(root, 'commit', '--quiet', '--allow-empty', '--message', 'one');
    await writeFile(handler, 'version two');
    await mkdir(join(functions, 'only-two'), { recursive: true });
    await writeFile(join(functions, 'only-two', 'part.ts'), '');
    await git(root, 'stash', '--include-untracked');
    await git(root, 'stash', 'pop');
    await git(root, 'checkout', '--', handler);
  },
};

describe.concurrent('watchSources', () => {
  it.each(Object.entries(waysToSave))(
    'notices a file saved %s, each time, and a later save in place',
    async (_way, save) => {
      const folder = await watchedFolder();
      for (let time = 0; time < 3; time += 1) await folder.noticed(() => save(folder));
      await folder.noticed(() => writeFile(folder.handler, 'later'));
    },
  );

  it('notices a new handler, its changes and its deletion', async () => {
    const { functions, noticed } = await watchedFolder();
    const added = join(functions, 'new-pet.ts');
    await noticed(() => copyFile(join(functions, 'get-pet.ts'), added));
    await noticed(() => writeFile(added, 'changed'));
    await noticed(() => rm(added));
    await noticed(() => writeFile(added, 'back'));
  });

  it('calls for one rebuild after many changes at once', async () => {
    const { functions, noticed, rebuilds } = await watchedFolder();
    const files = Array.from({ length: 100 }, (_, index) => join(functions, `${index}.ts`));
    await noticed(() => Promise.all(files.map((file) => writeFile(file, ''))));
    expect(rebuilds()).toBeLessThan(5);
  });

  it('aborts a rebuild when something changes meanwhile, and starts the next one after its end', async () => {
    const root = await temporaryFolder(join(tmpdir(), 'animal-store-test-'));
    const events: string[] = [];
    const rebuild = async (signal: AbortSignal) => {
      events.push('begins');
      if (events.length > 1) return;
      const aborted = once(signal, 'abort');
      await writeFile(join(root, 'a.ts'), 'changed meanwhile');
      await aborted;
      events.push('is aborted');
    };
    await startWatch(root, rebuild);
    await writeFile(join(root, 'a.ts'), 'new');
    await vi.waitFor(() => expect(events).toEqual(['begins', 'is aborted', 'begins']), patience);
  });

  it('calls for a rebuild of what changed before it knew whom to call', async () => {
    const root = await temporaryFolder(join(tmpdir(), 'animal-store-test-'));
    const sources = await watchSources({ directories: [root], report: () => {} });
    cleanups.push(sources.stop);
    await writeFile(join(root, 'a.ts'), 'early');
    await pause(1_000);
    const called = Promise.withResolvers<void>();
    sources.rebuildWith(async () => called.resolve());
    await called.promise;
  });

  it.each(ownFolders)(
    'reports, without a rebuild, that modules of this process have changed: %s',
    async (path) => {
      const { root, lines, noticed, rebuilds } = await watchedFolder();
      const folder = join(root, 'project', path);
      await writeFile(join(folder, 'module.ts'), '');
      await vi.waitFor(() => expect(lines).toHaveLength(1), patience);
      await pause(300);
      expect(rebuilds()).toBe(0);
      await noticed(() => writeFile(join(folder, '..', 'stack.ts'), ''));
      expect(lines).toEqual([`${path} has changed: restart npm start to use it`]);
    },
  );

  it.each(['infra/settings/stages.ts', 'infra/settings/names.ts', 'lib/keys/api-key.ts'])(
    'calls for a rebuild of %s, and reports that this process has loaded it too',
    async (path) => {
      const { root, lines, noticed } = await watchedFolder();
      await mkdir(join(root, 'project', 'lib', 'keys'), { recursive: true });
      await mkdir(join(root, 'project', 'infra', 'settings'), { recursive: true });
      await noticed(() => writeFile(join(root, 'project', path), ''));
      expect(lines).toEqual([`${path} has changed: restart npm start to use it`]);
    },
  );
});
