import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { caller, json, noStack, stackIn, startAwsEndpoint, xml } from '../support/aws-endpoint.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const aws = await startAwsEndpoint();
/** Accepts connections, and never answers. */
const silent = createServer(() => {});
const silentAddress = `http://127.0.0.1:${await listen(silent)}`;
const programs = await temporaryFolder(afterAll);
afterAll(() => void silent.close());

/** A CDK that prints its words, writes an empty template, and compares and deploys for some seconds. */
const slowCdk = `#!/bin/sh
echo "cdk $*"
case "$1" in
  synth) for folder; do :; done; echo '{ "Resources": {} }' >"$folder/$2.template.json" ;;
  diff | deploy)
    [ -z "$STUBBORN" ] || trap '' INT
    exec sleep 20
    ;;
esac
`;
await writeFile(join(programs, 'cdk'), slowCdk, { mode: 0o755 });

const isChanged = 'error: Interrupted. AWS may continue. Run the same command again.\n';

const path = [programs, join(projectDirectory, 'node_modules/.bin'), process.env['PATH']];
const variables = { ...aws.variables, PATH: path.join(delimiter) };

/** Starts a command. `end` returns what it printed, and its exit code. */
const start = (program: string, words: readonly string[], others = {}) => {
  const env = { ...variables, ...others };
  const child = spawn(program, words, { cwd: projectDirectory, env });
  const printed = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const end = async () => {
    const [out, err, [exitCode]] = await printed;
    return { out, err, exitCode };
  };
  return { child, end };
};
const onDevAlice = (words: string) => [...words.split(' '), '--stage', 'dev-alice'];

beforeEach(() => {
  aws.responses = {
    ...caller('000000000000'),
    ListStackResources: xml('ListStackResources', {}),
    DescribeStacks: noStack,
  };
});

it.each([
  'infra/commands/deploy.ts --yes',
  'infra/commands/keys.ts issue --owner alice',
  'infra/commands/keys.ts list',
  'infra/commands/keys.ts revoke 0123456789abcdef --yes',
  'infra/commands/keys.ts rotate 0123456789abcdef',
  'infra/commands/copy-back.ts pets copy --yes',
  'infra/commands/status.ts',
  'test/programs/stage-tests.ts acceptance',
  'test/programs/stage-tests.ts smoke',
])(
  'Ctrl-C ends a command that has changed nothing, while AWS does not answer: %s',
  async (words) => {
    const { child, end } = start('node', onDevAlice(words), { AWS_ENDPOINT_URL: silentAddress });
    await once(silent, 'connection');
    child.kill('SIGINT');
    expect(await end()).toEqual({ out: '', err: 'error: Interrupted.\n', exitCode: 130 });
  },
);

it('Ctrl-C says that AWS may continue when something may have been changed', async () => {
  const words = onDevAlice('infra/commands/keys.ts issue --owner alice');
  const { child, end } = start('node', words);
  aws.respond({
    DescribeStacks: stackIn('CREATE_COMPLETE', { KeysTableName: 'keys' }),
    PutItem: () => {
      child.kill('SIGINT');
      return new Promise(() => {});
    },
  });
  expect(await end()).toEqual({ out: '', err: isChanged, exitCode: 130 });
});

it.each([
  ['diff', 'error: Interrupted.\n', stackIn('CREATE_COMPLETE')],
  ['deploy', isChanged, noStack],
])('Ctrl-C ends the CDK: %s', async (action, message, DescribeStacks) => {
  const GetTemplate = xml('GetTemplate', { TemplateBody: '{ "Resources": {} }' });
  aws.respond({ DescribeStacks, GetTemplate });
  const { child, end } = start('node', onDevAlice('infra/commands/deploy.ts --yes'));
  child.stdout.on('data', (data) => {
    if (`${data}`.includes(`cdk ${action}`)) child.kill('SIGINT');
  });
  const { out, err, exitCode } = await end();
  expect({ err, exitCode }).toEqual({ err: message, exitCode: 130 });
  const [, folder = ''] = /--output (\S+)/.exec(out) ?? [];
  expect(folder).not.toBe('');
  expect(existsSync(folder)).toBe(false);
});

const keyId = '0123456789abcdef';
const hash = { B: Buffer.alloc(32).toString('base64') };
const texts = { owner: { S: 'alice' }, lastFour: { S: 'abcd' }, createdAt: { S: '2026' } };
it.each([
  ['status.ts', 'nothing'],
  ['keys.ts issue --owner alice', 'PutItem'],
  [`keys.ts rotate ${keyId}`, 'TransactWriteItems'],
])('a command whose output is lost fails, and names a key in it: %s', async (words, written) => {
  aws.respond({
    DescribeStacks: stackIn('CREATE_COMPLETE', { KeysTableName: 'keys' }),
    GetItem: json({ Item: { keyId: { S: keyId }, hash, ...texts } }),
    [written]: json({}),
  });
  const command = `node ${onDevAlice(`infra/commands/${words}`).join(' ')}; echo "exit code $?" >&2`;
  const { err } = await start('sh', ['-c', `{ ${command}; } | true`]).end();
  expect(err).toMatch(/^error: The output can't be written: .*EPIPE.*\nexit code 1\n$/);
  const write = aws.requests.find(({ action }) => action === written);
  const [, issued] = /Key (\w{16}) .* revoke it/.exec(err) ?? [];
  expect(write?.body.includes(`"${issued}"`)).toBe(write ? true : undefined);
  expect(issued).not.toBe(keyId);
});

it('Ctrl-C ends a command at once when it comes again, while the CDK goes on', async () => {
  const words = onDevAlice('infra/commands/deploy.ts --yes');
  const { child } = start('node', words, { STUBBORN: 'yes' });
  let interruptedAt = 0;
  child.stdout.on('data', async (data) => {
    if (!`${data}`.includes('cdk deploy')) return;
    interruptedAt = Date.now();
    child.kill('SIGINT');
    await pause(1_100);
    child.kill('SIGINT');
  });
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(Date.now() - interruptedAt).toBeLessThan(15_000);
});

it('Ctrl-C at a question is no answer', async () => {
  const command = 'node infra/commands/deploy.ts --stage dev-alice';
  const script = ['-qefc', command, '/dev/null'];
  const { child, end } = start('script', script);
  child.stdout.on('data', (data) => {
    if (`${data}`.includes('Type dev-alice')) child.stdin.write('\x03');
  });
  const { out, exitCode } = await end();
  expect(out).toMatch(/\r\nerror: Nothing was changed\r\n$/);
  expect(exitCode).toBe(1);
});
