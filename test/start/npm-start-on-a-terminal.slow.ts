import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, expect, it } from 'vitest';
import { ErrorBody } from '../../lib/contract/error-body.ts';
import { freePort } from '../support/listen.ts';
import { copyProject, editIn, NpmStart } from './npm-start.ts';

const project = await copyProject(afterAll);

it('npm start prints requests and failures on a terminal, and keeps data in files of its user', async () => {
  const port = await freePort();
  const data = join(project, 'pets');
  const origin = 'http://localhost:5173';
  const first = new NpmStart(project, port, `--data '${data}' --seed --cors ${origin}`, 'terminal');
  const { baseAddress, apiKey } = await first.ready();
  const headers = { Authorization: `Bearer ${apiKey}`, Origin: origin };
  const get = (path: string, method = 'GET') => fetch(baseAddress + path, { method, headers });
  expect(await (await get('/pets?limit=100')).json()).toHaveLength(100);
  await first.printed(/^(GET \/v1\/pets \S*200\S* \d+ ms)$/m);
  for (const method of ['GET', 'PROPFIND']) {
    const response = await get('/unknown', method);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(origin);
    const { message } = v.parse(ErrorBody, await response.json());
    await first.printed(
      new RegExp(`^(${method} /v1/unknown \\S*404 not_found\\S* \\d+ ms  ${message})$`, 'm'),
    );
  }

  const call = 'const pet = await pets.get';
  await editIn(project, 'functions/get-pet.ts', call, `errors.notFond();\n${call}`);
  await first.printed(/^(Reloaded the functions)$/m);
  const failed = await get('/pets/1');
  expect([failed.status, await failed.text()]).toEqual([
    500,
    expect.not.stringContaining('notFond'),
  ]);
  await first.printed(
    /^(TypeError: errors\.notFond is not a function\n {4}at functions\/get-pet\.ts:\d+:\d+)$/m,
  );
  expect(first.out).not.toMatch(/^\{/m);
  await editIn(project, 'functions/get-pet.ts', 'errors.notFond();\n', '');

  const files = await readdir(data);
  expect(files).toContain('shared-local-instance.db');
  for (const file of files) expect((await stat(join(data, file))).mode & 0o777).toBe(0o600);
  first.signalGroup('SIGINT');
  await first.ended();

  const second = new NpmStart(project, port, `--data '${data}'`);
  await second.printed(/^(Starting DynamoDB Local)/m);
  // A request that comes early waits until the key is in its table.
  const early = get('/pets?limit=100');
  expect((await second.ready()).apiKey).toBe(apiKey);
  expect(await (await early).json()).toHaveLength(100);
  second.signalGroup('SIGINT');
  await second.ended();
}, 600_000);
