import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { InspectorClient, type Stop } from './inspector-client.ts';
import { copyProject, NpmStart, runInShell } from './npm-start.ts';

const project = await copyProject();
afterAll(() => rm(project, { recursive: true, force: true }));

const lineOf = async (file: string, text: string): Promise<number> => {
  const lines = (await readFile(join(project, file), 'utf8')).split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
};

/** A temporary folder behind a link that leads deeper, as that of macOS is. */
const linkedFolder = async (parent: string): Promise<string> => {
  await mkdir(join(parent, 'private/folder'), { recursive: true });
  await symlink('private/folder', join(parent, 'link'));
  return join(parent, 'link');
};

const debuggerAddress = ({ err }: NpmStart): string =>
  /^Debugger listening on (ws:\/\/127\.0\.0\.1:\S+)$/m.exec(err)?.[1] ?? '';

/** Longer than each time limit of a request, so that a stopped request would fail if one applied. */
const lookMs = 5_000;
/** Longer than a function may load, in ms. */
const loadMs = 11_000;
/** Longer than a function that was replaced keeps running, in ms. */
const retirementMs = 31_000;

it('npm start -- --inspect presets the port to which VS Code attaches', async () => {
  const launchFile = join(projectDirectory, '.vscode/launch.json');
  const [settings] = JSON.parse(await readFile(launchFile, 'utf8')).configurations;
  expect(settings).toMatchObject({ request: 'attach', pauseForSourceMap: true });
  const help = await runInShell('npm start --silent -- --help');
  expect(help).toMatch(new RegExp(`--inspect \\[port\\][^-]+preset:\\s+"${settings.port}"`));
});

it('npm start -- --inspect stops in the sources, shows variables, goes on, and again after a reload', async () => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-test-'));
  vi.stubEnv('TMPDIR', await linkedFolder(temporary.path));
  const started = new NpmStart(project, await freePort(), `--inspect ${await freePort()}`);
  const { baseAddress, apiKey } = await started.ready();
  const client = await InspectorClient.connect(debuggerAddress(started));
  const getPet = () =>
    fetch(`${baseAddress}/pets/4711`, { headers: { Authorization: `Bearer ${apiKey}` } });

  const stop = async (): Promise<Stop> => {
    const found: (Stop | undefined)[] = [];
    await expect
      .poll(() => found.push(client.takeStop()) > 0 && found.at(-1) !== undefined, {
        timeout: 60_000,
      })
      .toBe(true);
    const last = found.at(-1);
    if (!last) throw new Error('No request has stopped');
    return last;
  };

  const loading = { file: 'lib/keys/warm-up.ts', text: "readApiKey('no key'", variables: {} };
  const variables = { id: 4711 };
  const handler = { file: 'functions/get-pet.ts', text: 'const pet = id &&', variables };
  const store = { file: 'lib/pets/pet-store.ts', text: "table: petsTable, key: ['id'", variables };
  type Breakpoint = typeof handler | typeof loading;

  const expectStop = async ({ file, text, variables: shown }: Breakpoint) => {
    const stopped = await stop();
    expect(stopped.file).toBe(join(project, file));
    expect(stopped.line).toBe(await lineOf(file, text));
    expect(stopped.variables).toMatchObject(shown);
    return stopped;
  };
  /** Sends a request, waits at the first place where it stops, and goes on. */
  const expectStops = async (ms: number, breakpoints: readonly Breakpoint[]) => {
    const response = getPet();
    for (const [index, breakpoint] of breakpoints.entries()) {
      const stopped = await expectStop(breakpoint);
      if (index === 0) await setTimeout(ms);
      await stopped.resume();
    }
    expect((await response).status).toBe(404);
  };
  for (const { file, text } of [loading, handler, store])
    client.setBreakpoint({ file: join(project, file), line: await lineOf(file, text) });
  // The first request starts the function.
  await expectStops(loadMs, [loading, handler, store]);
  await expectStops(lookMs, [handler, store]);

  // An edit that moves no line of the breakpoints, while a request is stopped.
  const response = getPet();
  const stopped = await expectStop(handler);
  const source = join(project, handler.file);
  const contents = await readFile(source, 'utf8');
  await writeFile(source, contents.replace('throw errors.notFound()', 'throw (errors.notFound())'));
  await started.printed(/^(Reloaded the functions)$/m);
  await setTimeout(retirementMs);
  await stopped.resume();
  await (await expectStop(store)).resume();
  expect((await response).status).toBe(404);
  await expectStops(0, [loading, handler, store]);

  client.close();
  started.signal('SIGTERM');
  await started.ended();
}, 300_000);

it('npm start -- --inspect shows its functions to Chrome, which asks for targets', async () => {
  const started = new NpmStart(project, await freePort(), `--inspect ${await freePort()}`);
  const { curl } = await started.ready();
  const chrome = new WebSocket(debuggerAddress(started));
  await once(chrome, 'open');
  const messages: unknown[] = [];
  chrome.addEventListener('message', ({ data }) => messages.push(JSON.parse(`${data}`)));
  const params = { autoAttach: true, waitForDebuggerOnStart: false };
  chrome.send(JSON.stringify({ id: 1, method: 'Target.setAutoAttach', params }));
  await runInShell(curl);
  await expect
    .poll(() => messages, { timeout: 60_000 })
    .toContainEqual(expect.objectContaining({ method: 'Target.attachedToTarget' }));
  chrome.close();
  started.signal('SIGTERM');
  await started.ended();
}, 300_000);
