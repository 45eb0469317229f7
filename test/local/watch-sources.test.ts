import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SourceWatch } from '../../infra/local/watch-sources.ts';
import { projectDirectory } from '../../infra/project-directory.ts';

const patience = { timeout: 30_000, interval: 20 };

/** A folder that is removed after the test. */
const temporaryFolder = async (prefix: string) => {
  const folder = await mkdtemp(prefix);
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** A watch that stops with the test, and the lines that it has reported. */
const startWatch = async (directories: string[], loadedDirectories: string[] = []) => {
  const lines: string[] = [];
  const report = (line: string) => lines.push(line);
  const watch = await SourceWatch.start({ directories, loadedDirectories, report });
  onTestFinished(() => watch.stop());
  return { watch, lines };
};

/** A folder with the sources of one handler, and how often a watch of it has called for a rebuild. */
const watchedFolder = async () => {
  const root = await temporaryFolder(join(tmpdir(), 'Straße mit Umläuten '));
  const functions = join(root, 'functions');
  const loaded = join(root, 'infra', 'local');
  await mkdir(functions);
  await mkdir(loaded, { recursive: true });
  const handler = join(functions, 'get-pet.ts');
  await writeFile(handler, 'version 0');
  await writeFile(join(functions, 'list-pets.ts'), '');
  let rebuilds = 0;
  const { watch, lines } = await startWatch([functions, join(root, 'infra')], [loaded]);
  watch.begin(async () => {
    rebuilds += 1;
  });
  /** Does something, and waits until the watch has called for a rebuild and is quiet again. */
  const noticed = async (change: () => Promise<unknown>) => {
    const before = rebuilds;
    await change();
    await expect.poll(() => rebuilds, patience).toBeGreaterThan(before);
    await pause(300);
  };
  return { root, functions, loaded, handler, lines, noticed, rebuilds: () => rebuilds };
};

type Folder = Awaited<ReturnType<typeof watchedFolder>>;

const run = (cwd: string, program: string, ...args: string[]) =>
  promisify(execFile)(program, args, { cwd });

const git = (cwd: string, ...args: string[]) =>
  run(cwd, 'git', '-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args);

/** Makes the folder a repository with the branches `one` and `two`, whose handlers differ; `one` is checked out. */
const withBranches = async ({ root, handler, functions, noticed }: Folder) => {
  await git(root, 'init', '--quiet', '--initial-branch', 'one');
  await git(root, 'add', '.');
  await git(root, 'commit', '--quiet', '--message', 'one');
  await noticed(async () => {
    await git(root, 'checkout', '--quiet', '-b', 'two');
    await writeFile(handler, 'version two');
    await mkdir(join(functions, 'only-two'));
    await writeFile(join(functions, 'only-two', 'part.ts'), '');
    await git(root, 'add', '.');
    await git(root, 'commit', '--quiet', '--message', 'two');
  });
  await noticed(() => git(root, 'checkout', '--quiet', 'one'));
};

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
  'by sed -i': ({ functions }) => run(functions, 'sed', '-i', 's/^/x/', 'get-pet.ts'),
  'by a deletion and a new file': async ({ handler }) => {
    await rm(handler);
    await writeFile(handler, 'new');
  },
};

describe('SourceWatch', () => {
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

  it('notices six branch switches in a row, and a save after them', async () => {
    const folder = await watchedFolder();
    await withBranches(folder);
    for (const branch of ['two', 'one', 'two', 'one', 'two', 'one']) {
      await folder.noticed(() => git(folder.root, 'checkout', '--quiet', branch));
    }
    await folder.noticed(() => writeFile(folder.handler, 'saved'));
  });

  it('notices git stash, git stash pop and git checkout of a file', async () => {
    const folder = await watchedFolder();
    await withBranches(folder);
    await folder.noticed(() => writeFile(folder.handler, 'not committed'));
    await folder.noticed(() => git(folder.root, 'stash'));
    await folder.noticed(() => git(folder.root, 'stash', 'pop'));
    await folder.noticed(() => git(folder.root, 'checkout', '--', 'functions/get-pet.ts'));
    await folder.noticed(() => writeFile(folder.handler, 'saved'));
  });

  it('calls for one rebuild after many changes at once', async () => {
    const { functions, noticed, rebuilds } = await watchedFolder();
    await noticed(() =>
      Promise.all(
        Array.from({ length: 100 }, (_, index) => writeFile(join(functions, `${index}.ts`), '')),
      ),
    );
    expect(rebuilds()).toBeLessThan(5);
  });

  it('aborts a rebuild when something changes meanwhile, and starts the next one after its end', async () => {
    const root = await temporaryFolder(join(tmpdir(), 'animal-store-test-'));
    const { watch } = await startWatch([root]);
    const events: string[] = [];
    watch.begin(async (signal) => {
      events.push('begins');
      if (events.length > 1) return;
      const aborted = once(signal, 'abort');
      await writeFile(join(root, 'a.ts'), 'changed meanwhile');
      await aborted;
      events.push('is aborted');
    });
    await writeFile(join(root, 'a.ts'), 'new');
    await expect.poll(() => events, patience).toEqual(['begins', 'is aborted', 'begins']);
  });

  it('rebuilds after it begins for a change that came before', async () => {
    const root = await temporaryFolder(join(tmpdir(), 'animal-store-test-'));
    const { watch } = await startWatch([root]);
    await writeFile(join(root, 'early.ts'), '');
    await pause(500);
    const rebuild = Promise.withResolvers<void>();
    watch.begin(async () => rebuild.resolve());
    await rebuild.promise;
  });

  it('reports once, without a rebuild, that modules of this process have changed', async () => {
    const { root, loaded, lines, noticed, rebuilds } = await watchedFolder();
    await writeFile(join(loaded, 'gateway.ts'), '');
    await expect.poll(() => lines, patience).toHaveLength(1);
    await writeFile(join(loaded, 'router.ts'), '');
    await pause(500);
    expect(rebuilds()).toBe(0);
    await noticed(() => writeFile(join(root, 'infra', 'stack.ts'), ''));
    expect(lines).toEqual([
      expect.stringMatching(/infra\/local has changed: restart npm start to use it$/),
    ]);
  });

  it('names the folder of such a module relative to the project', async () => {
    const loaded = await temporaryFolder(join(projectDirectory, '.build', 'watch-'));
    const { lines } = await startWatch([loaded], [loaded]);
    await writeFile(join(loaded, 'gateway.ts'), '');
    await expect
      .poll(() => lines, patience)
      .toEqual([expect.stringMatching(/^\.build\/watch-\w+ has changed: restart npm start/)]);
  });

  it('reports in one line that folders can not be watched', async () => {
    // No file system has such a name.
    const { lines } = await startWatch(['\0', '\0']);
    expect(lines).toEqual([
      'Changed sources may go unnoticed (ERR_INVALID_ARG_VALUE): restart npm start to use them',
    ]);
  });
});
