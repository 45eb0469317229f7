import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const account = '777777777777';
const device = `arn:aws:iam::${account}:mfa/alice`;

const directory = await temporaryFolder(afterAll);

const aws = await startAwsEndpoint();
const plain = Number(new URL(aws.variables['AWS_ENDPOINT_URL'] ?? '').port);

/** The hosts of AWS, which only the proxy reaches. */
const certificate = await makeCertificate(['*.eu-west-1.amazonaws.com', 'iam.amazonaws.com']);
afterAll(() => certificate[Symbol.asyncDispose]());
const hosts = createTlsServer(certificate, (socket) => {
  pipeline(socket, connect(plain, '127.0.0.1'), socket, () => {});
});
const hostsPort = await listen(hosts);
const proxied = new Set<string>();
const proxy = createServer().on('connect', ({ url = '' }, socket) => {
  proxied.add(url);
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  pipeline(socket, connect(hostsPort, '127.0.0.1'), socket, () => {});
});
const proxyAddress = `http://127.0.0.1:${await listen(proxy)}`;
afterAll(() => {
  hosts.close();
  proxy.close();
});

await writeFile(
  join(directory, 'config'),
  `[profile operator]
role_arn = arn:aws:iam::${account}:role/operator
mfa_serial = ${device}
source_profile = alice
region = eu-west-1
ca_bundle = ${certificate.file}
[profile alice]
aws_access_key_id = ALICE
aws_secret_access_key = secret
`,
);
/** A CDK that tells with which credentials it is started, and fails. */
await writeFile(
  join(directory, 'cdk'),
  `#!/bin/sh\necho "$AWS_ACCESS_KEY_ID $AWS_SECRET_ACCESS_KEY $AWS_SESSION_TOKEN" >>"$0.log"\nexit 1\n`,
);
await chmod(join(directory, 'cdk'), 0o755);

const credentials = {
  AccessKeyId: 'SESSION',
  SecretAccessKey: 'of-the-session',
  SessionToken: 'token',
  Expiration: new Date(Date.now() + 3_600_000).toISOString(),
};

const variables = {
  PATH: `${directory}:${process.env['PATH']}`,
  AWS_CONFIG_FILE: join(directory, 'config'),
  AWS_SHARED_CREDENTIALS_FILE: join(directory, 'none'),
  AWS_PROFILE: 'operator',
  HTTPS_PROXY: proxyAddress,
};

/** Runs a command on a terminal on which a code is typed. */
const run = async (command: string, others: Readonly<Record<string, string>> = {}) => {
  const line = `${process.execPath} infra/commands/${command}`;
  const [program = '', ...words] = ['script', '-qefc', line, '/dev/null'];
  const child = spawn(program, words, { env: { ...variables, ...others } });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
    if (`${data}`.includes('Code of the MFA')) child.stdin.write('123456\n');
  });
  await once(child, 'close');
  return out;
};

const noStack = xmlError('ValidationError', 'The stack does not exist');
aws.responses = {
  AssumeRole: xml('AssumeRole', { Credentials: credentials }),
  GetCallerIdentity: xml('GetCallerIdentity', { Account: account }),
  DescribeStacks: noStack,
  ListStackResources: noStack,
};

it('commands ask for a code of MFA once, reach AWS through the proxy, and start the CDK with the session', async () => {
  const out = await run('deploy/main.ts --stage dev-alice --yes');
  expect(out.split(`Code of the MFA device ${device}`)).toHaveLength(2);
  const [assumed, ...others] = aws.requests;
  expect(assumed?.body).toContain('TokenCode=123456');
  expect(new Set(others.map(({ accessKey }) => accessKey))).toEqual(new Set(['SESSION']));
  expect(await readFile(join(directory, 'cdk.log'), 'utf8')).toMatch(
    /^SESSION of-the-session token\n/,
  );
  expect(proxied).toContain('sts.eu-west-1.amazonaws.com:443');
  expect(proxied).toContain('ssm.eu-west-1.amazonaws.com:443');
});

it.each([join(directory, 'none'), directory, join(directory, 'config')])(
  'commands name the variable of certificates that are none: %s',
  async (file) => {
    const out = await run('status.ts --stage dev-alice', { AWS_CA_BUNDLE: file });
    expect(out).toMatch(/^error: .* is not a file with certificates: correct AWS_CA_BUNDLE.*\r\n$/);
  },
);

const silent = createTcpServer(() => {});
const silentPort = await listen(silent);
/** How long a command waited for the rest of a response, in ms. */
let waited = 0;
const stopsHalfWay = createServer(({ socket }, response) => {
  const start = Date.now();
  socket.on('close', () => {
    waited = Date.now() - start;
  });
  response.writeHead(200).write('<Get');
});
const stopsHalfWayPort = await listen(stopsHalfWay);
afterAll(() => {
  silent.close();
  stopsHalfWay.close().closeAllConnections();
});

it.concurrent.each<[string, Record<string, string>]>([
  ['a server that never answers', { AWS_ENDPOINT_URL: `http://127.0.0.1:${silentPort}` }],
  ['a body that stops half-way', { AWS_ENDPOINT_URL: `http://127.0.0.1:${stopsHalfWayPort}` }],
  ['a server that never starts TLS', { AWS_ENDPOINT_URL: `https://127.0.0.1:${silentPort}` }],
  ['a proxy that never connects', { HTTPS_PROXY: `http://127.0.0.1:${silentPort}` }],
])('commands give up, and name the call: %s', async (_what, others) => {
  const words = ['infra/commands/status.ts', '--stage', 'dev-alice'];
  const env = {
    PATH: process.env['PATH'],
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_MAX_ATTEMPTS: '1',
    ...others,
  };
  const ended = promisify(execFile)(process.execPath, words, { env, timeout: 60_000 });
  const line = /^error: STS GetCallerIdentity: .*time(d )?out.*\n$/;
  await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(line) });
  // Then 3 attempts end within a minute, also on a busy machine.
  expect(waited).toBeLessThan(17_000);
});
