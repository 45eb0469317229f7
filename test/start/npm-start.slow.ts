import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { freePort } from '../support/listen.ts';
import { commandLines, copyProject, editIn, NpmStart, runInShell } from './npm-start.ts';

const ErrorBody = v.object({ message: v.string() });

const project = await copyProject(afterAll);
// Also root, who may write everywhere, can make no folder in a file.
const unwritable = await copyProject(afterAll);
await writeFile(join(unwritable, '.build'), '');

const edit = (file: string, from: string, to: string) => editIn(project, file, from, to);

describe('npm start', () => {
  it('serves, reloads sources, and ends all that it started', async () => {
    const port = await freePort();
    const first = new NpmStart(project, port);
    // This source changes after it was read and before the service has started.
    const stacks = join(project, '.build/local', `${port}`, 'stacks');
    await expect.poll(() => existsSync(stacks), { timeout: 60_000 }).toBe(true);
    await edit('lib/contract/errors.ts', 'This path does not exist.', 'It is nowhere.');
    const { curl, baseAddress, docsAddress, apiKey, dynamodbPort } = await first.ready();
    expect(baseAddress).toBe(`http://127.0.0.1:${port}/v1`);
    expect(await runInShell(`${curl} --silent --fail`)).toBe('[]');
    expect(await (await fetch(docsAddress)).text()).toContain('<title>Animal store</title>');
    // The app declares the one stage that it is told, so that `cdk destroy` needs no name of a stack.
    const templates = globSync('*.template.json', { cwd: stacks });
    expect(templates).toEqual(['AnimalStore-dev-local.template.json']);

    // The key is a secret of this machine's user.
    const keyFile = join(project, '.local', 'api-key');
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect((await readFile(keyFile, 'utf8')).trim()).toBe(apiKey);

    const headers = { Authorization: `Bearer ${apiKey}` };
    const created = await fetch(`${baseAddress}/pets`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":9223372036854775807}',
    });
    expect(created.status).toBe(201);
    const pet = await created.text();
    await first.printed(/^(\{.*"operation":"createPet","status":201,.*\})$/m);
    expect(first.out).not.toContain('_aws');

    for (const { address, family } of Object.values(networkInterfaces()).flatMap(
      (all) => all ?? [],
    )) {
      if (address.startsWith('127.') || family !== 'IPv4') continue;
      await expect(fetch(`http://${address}:${dynamodbPort}`)).rejects.toThrow();
      await expect(fetch(`http://${address}:${port}`)).rejects.toThrow();
    }

    const second = new NpmStart(project, port);
    expect(await second.exitCode()).toBe(1);
    expect(second.err).toMatch(
      new RegExp(`^Not started: Can't listen on port ${port} .* --port <number>\\.\\n$`),
    );

    const messageOf = async (method: string) =>
      v.parse(ErrorBody, await (await fetch(`${baseAddress}/unknown`, { method })).json()).message;
    const messageOfFunction = () => messageOf('GET');
    // Of a method that API Gateway does not know.
    const messageOfGateway = () => messageOf('PROPFIND');
    const reload = { timeout: 60_000, interval: 100 };
    await expect.poll(messageOfFunction, reload).toMatch(/^It is nowhere\./);
    await expect.poll(messageOfGateway, reload).toMatch(/^It is nowhere\./);
    await first.printed(/^(Reloaded the stack)$/m);

    await edit('lib/contract/errors.ts', 'is nowhere.', '`); is broken');
    await first.printed(
      /^(Not reloaded the functions, .*: lib\/contract\/errors\.ts:\d+:\d+: .*)$/m,
    );
    // This function starts only now, while a source is broken.
    const getPet = () => fetch(`${baseAddress}/pets/1`, { headers });
    expect((await getPet()).status).toBe(404);
    await edit('infra/app.ts', 'import ', "throw new Error('on purpose');\nimport ");
    await edit('lib/contract/errors.ts', '`); is broken', 'is nowhere.');
    await first.printed(/^Not reloaded the stack, .*: (infra\/app\.ts failed:)$/m);
    await first.printed(/^(Error: on purpose)$/m);

    const source = join(project, 'functions', 'get-pet.ts');
    const contents = await readFile(source, 'utf8');
    await rm(source);
    await first.printed(/^(Not reloaded the functions, .*: functions\/get-pet\.ts is missing.*)$/m);
    const several = await Promise.all(Array.from({ length: 8 }, getPet));
    expect(several.map(({ status }) => status)).toEqual(Array(8).fill(404));
    const getsPet = 'if (!pet) throw';
    await writeFile(
      source,
      contents.replace(getsPet, `throw new TypeError('oh no');\n  ${getsPet}`),
    );
    await expect.poll(async () => (await getPet()).status, reload).toBe(500);
    await expect
      .poll(() => first.err, reload)
      .toMatch(/^TypeError: oh no\n {4}at functions\/get-pet\.ts:\d+:\d+\n/);
    await writeFile(source, contents);
    await expect.poll(async () => (await getPet()).status, reload).toBe(404);

    await edit('infra/app.ts', "throw new Error('on purpose');\n", '');
    await expect.poll(() => first.out, reload).toMatch(/\nReloaded the stack\n$/);
    expect((await fetch(`${baseAddress}/pets`)).status).toBe(401);
    expect(await (await fetch(`${baseAddress}/pets`, { headers })).text()).toBe(`[${pet}]`);

    first.signal('SIGTERM');
    first.signal('SIGTERM');
    await first.ended();
    expect(new Set(first.err.match(/^\S.*$/gm))).toEqual(new Set(['TypeError: oh no']));
  }, 600_000);

  it('ends at once when only npm is told to while it starts', async () => {
    const started = new NpmStart(project, 0);
    await expect
      .poll(commandLines, { timeout: 60_000 })
      .toContain(join(project, 'infra/local/dynamodb'));
    started.signal('SIGINT');
    await started.ended();
    expect(started.err).toBe('');
  });

  it('says in a line that DynamoDB Local has ended, and fails', async () => {
    const started = new NpmStart(project, await freePort());
    await started.ready();
    const database = (await commandLines())
      .split('\n')
      .find((line) => line.includes(join(project, 'infra/local/dynamodb')));
    process.kill(Number.parseInt(`${database}`, 10), 'SIGKILL');
    await expect
      .poll(() => started.err, { timeout: 30_000 })
      .toMatch(/^Stopped, because DynamoDB Local has ended[^\n]*\n$/);
    expect(await started.exitCode()).toBe(1);
  });

  it.each([
    ['a PORT that is not a number', 'http', [], /from 0 to 65535/],
    ['a PORT beyond all ports', '65536', [], /from 0 to 65535/],
    ['an unknown option', '0', ['--date', 'x'], /unknown option '--date'/],
    ['an argument without an option', '0', ['x'], /too many arguments/],
    ['a file as --data', '0', ['--data', 'package.json'], /^Not started: EEXIST/],
    ['a page as an origin', '0', ['--cors', 'http://a.test/page'], /Give an origin/],
    ['a read-only project', '0', [], /project can't be written: E/, unwritable],
  ])('refuses %s in one line and exits with 1', (...given) => {
    const [, PORT, words, reason, cwd = projectDirectory] = given;
    const { status, stderr } = spawnSync(process.execPath, ['infra/commands/start.ts', ...words], {
      cwd,
      env: { ...process.env, PORT },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toMatch(reason);
  });
});
