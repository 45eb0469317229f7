import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { withAssembly } from '../../infra/build/with-assembly.ts';
import { startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const aws = await startAwsEndpoint();
const plain = Number(new URL(aws.variables['AWS_ENDPOINT_URL'] ?? '').port);

/** The hosts of AWS, which only the proxy reaches under their names. */
const certificate = await makeCertificate(['*.eu-west-1.amazonaws.com', 'localhost']);
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

aws.responses = {
  GetCallerIdentity: xml('GetCallerIdentity', { Account: '777777777777' }),
  DescribeStacks: xmlError('ValidationError', 'The stack does not exist'),
};

/** Runs `npm run status` with these variables. */
const status = (variables: Readonly<Record<string, string>>) => {
  const words = ['infra/commands/status.ts', '--stage', 'dev-alice'];
  const env = {
    PATH: process.env['PATH'],
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CONFIG_FILE: '/dev/null',
    ...variables,
  };
  return promisify(execFile)('infra/commands/project-node', words, { env, timeout: 60_000 });
};

const hostOf = (service: string) => `${service}.eu-west-1.amazonaws.com:443`;
const own = { NODE_EXTRA_CA_CERTS: certificate.file, NODE_USE_ENV_PROXY: '0' };
it.each<[string, Record<string, string>, string[]]>([
  [
    'the proxy of a company, with its certificates',
    { AWS_CA_BUNDLE: certificate.file },
    ['sts', 'cloudformation'].map(hostOf),
  ],
  [
    'a proxy only if NODE_USE_ENV_PROXY does not forbid it, with the certificates of NODE_EXTRA_CA_CERTS',
    { ...own, AWS_CA_BUNDLE: '/nope', AWS_ENDPOINT_URL: `https://localhost:${hostsPort}` },
    [],
  ],
])('commands reach AWS through %s', async (_what, variables, hosts) => {
  proxied.clear();
  const stderr = expect.stringMatching(
    /^error: There is no stage dev-alice in account 777777777777/,
  );
  const ended = status({ HTTPS_PROXY: proxyAddress, ...variables });
  await expect(ended).rejects.toMatchObject({ code: 1, stderr });
  expect([...proxied]).toEqual(hosts);
});

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
  const ended = status({ AWS_MAX_ATTEMPTS: '1', ...others });
  const line = /^error: STS GetCallerIdentity: .*time(d )?out.*\n$/;
  await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(line) });
  // Then 3 attempts end within a minute, also on a busy machine.
  expect(waited).toBeLessThan(17_000);
});

const stacks = await temporaryFolder(afterAll);
await withAssembly(async () => {}, {
  context: { stage: 'dev-alice', bundles: 'none' },
  assembly: stacks,
});

/** Half a pair of keys, with what only the CDK takes for the other half, and a token that has ended. */
const half = {
  AWS_ACCESS_KEY_ID: 'HALF',
  AMAZON_SECRET_ACCESS_KEY: 'test',
  AWS_SESSION_TOKEN: 'x',
};

it.each<[string, Record<string, string>, string]>([
  [
    'exported keys, in the region of a profile',
    { AWS_ACCESS_KEY_ID: 'EXPORTED', AWS_SECRET_ACCESS_KEY: 'test', AWS_PROFILE: 'one' },
    'EXPORTED one-1',
  ],
  ['a profile, instead of half a pair', { ...half, AWS_PROFILE: 'one' }, 'ONE one-1'],
  ['AWS_PROFILE', { AWS_PROFILE: 'one', AWS_DEFAULT_PROFILE: 'two' }, 'ONE one-1'],
  ['AWS_DEFAULT_PROFILE', { AWS_DEFAULT_PROFILE: 'two' }, 'TWO two-1'],
  ['the profile default', { AMAZON_ACCESS_KEY_ID: 'A', ...half }, 'DEFAULT default-1'],
  ['AWS_DEFAULT_REGION', { AWS_DEFAULT_REGION: 'eu-west-2' }, 'DEFAULT eu-west-2'],
])('commands and the CDK use the same credentials and region: %s', async (...given) => {
  const [, chosen, used] = given;
  const HOME = await temporaryFolder();
  const profiles = ['default', 'one', 'two', 'cdk'].map(
    (name) =>
      `[${name}]\naws_access_key_id=${name.toUpperCase()}\naws_secret_access_key=test\nregion=${name}-1\n`,
  );
  await writeFile(join(HOME, 'credentials'), profiles.join(''));
  await writeFile(join(HOME, '.cdk.json'), JSON.stringify({ profile: 'cdk', region: 'cdk-2' }));
  const env = {
    ...{ PATH: process.env['PATH'], HOME, AWS_MAX_ATTEMPTS: '1', AWS_CONFIG_FILE: '/dev/null' },
    ...{ AWS_ENDPOINT_URL: `http://127.0.0.1:${plain}`, AMAZON_REGION: 'cdk-3' },
    ...{ AWS_SHARED_CREDENTIALS_FILE: join(HOME, 'credentials'), CDK_PROFILE: 'cdk' },
    ...{ CDK_REGION: 'cdk-4', AMAZON_DEFAULT_REGION: 'cdk-5', ...chosen },
  };
  for (const words of ['status -- --stage dev-alice', `destroy -- --app ${stacks} -f`]) {
    aws.requests.length = 0;
    const npm = promisify(execFile)('npm', ['run', ...words.split(' ')], { env });
    await npm.catch(() => {});
    const all = aws.requests.map(({ accessKey, region }) => `${accessKey} ${region}`);
    expect(new Set(all), words).toEqual(new Set([used]));
  }
});
