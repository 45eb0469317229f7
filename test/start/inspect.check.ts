import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { InspectorClient, type Stop } from './inspector-client.ts';
import { copyProject, NpmStart } from './npm-start.ts';

const project = await copyProject();
afterAll(() => rm(project, { recursive: true, force: true }));

const lineOf = async (file: string, text: string): Promise<number> => {
  const lines = (await readFile(join(project, file), 'utf8')).split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
};

/** Longer than each time limit of a request, so that a stopped request would fail if one applied. */
const lookMs = 5_000;
/** Longer than a function may load, in ms. */
const loadMs = 11_000;
/** Longer than a function that was replaced keeps running, in ms. */
const retirementMs = 31_000;

it('npm start -- --inspect stops in the sources, shows variables, goes on, and again after a reload', async () => {
  const started = new NpmStart(project, await freePort(), `--inspect ${await freePort()}`);
  const { baseAddress, apiKey } = await started.ready();
  const [, address = ''] =
    /^Debugger listening on (ws:\/\/127\.0\.0\.1:\S+)$/m.exec(started.err) ?? [];
  const client = await InspectorClient.connect(address);
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
    expect(stopped.file.endsWith(file), stopped.file).toBe(true);
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
    client.setBreakpoint({ file, line: await lineOf(file, text) });
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
