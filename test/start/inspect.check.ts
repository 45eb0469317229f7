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

it('npm start -- --inspect stops in the sources, shows variables, goes on, and again after a reload', async () => {
  const started = new NpmStart(project, await freePort(), `--inspect ${await freePort()}`);
  const { baseAddress, apiKey } = await started.ready();
  const [, address = ''] =
    /^Debugger listening on (ws:\/\/127\.0\.0\.1:\S+)$/m.exec(started.err) ?? [];
  const client = await InspectorClient.connect(address);
  const getPet = () =>
    fetch(`${baseAddress}/pets/4711`, { headers: { Authorization: `Bearer ${apiKey}` } });
  // The first request starts the function.
  expect((await getPet()).status).toBe(404);

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

  const handler = { file: 'functions/get-pet.ts', text: 'const pet = id &&' };
  const store = { file: 'lib/pets/pet-store.ts', text: "getItem({ table: petsTable, key: ['id'" };
  const expectStops = async () => {
    const response = getPet();
    for (const { file, text } of [handler, store]) {
      const stopped = await stop();
      expect(stopped.file.endsWith(file), stopped.file).toBe(true);
      expect(stopped.line).toBe(await lineOf(file, text));
      expect(stopped.variables).toMatchObject({ id: 4711 });
      if (file === handler.file) await setTimeout(lookMs);
      await stopped.resume();
    }
    expect((await response).status).toBe(404);
  };
  for (const { file, text } of [handler, store])
    client.setBreakpoint({ file, line: await lineOf(file, text) });
  await expect.poll(() => client.set.length, { timeout: 60_000 }).toBe(2);
  await expectStops();

  // An edit that moves no line of the breakpoints.
  const source = join(project, handler.file);
  const contents = await readFile(source, 'utf8');
  await writeFile(source, contents.replace('throw errors.notFound()', 'throw (errors.notFound())'));
  await started.printed(/^(Reloaded the functions)$/m);
  // The first request after a reload starts the function anew, and may stop or not.
  const first = getPet();
  let status: number | undefined;
  first.then((response) => {
    status = response.status;
  });
  const resume = { timeout: 60_000, interval: 100 };
  await expect
    .poll(() => {
      client.takeStop()?.resume();
      return [client.set.length, status];
    }, resume)
    .toEqual([4, 404]);
  await expectStops();

  client.close();
  started.signal('SIGTERM');
  await started.ended();
}, 300_000);
