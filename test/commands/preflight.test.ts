import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { placeholdersIn } from '../../infra/placeholders.ts';
import { preflight } from '../../infra/preflight.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { emulated, prod, type Stage, staging } from '../../infra/stages.ts';

const account = '777777777777';
const region = 'eu-west-1';
const certificateArn = `arn:aws:acm:${region}:${account}:certificate/1`;

type Answer = readonly [status: number, body: string];
const json = (body: object, status = 200): Answer => [status, JSON.stringify(body)];
const error = (code: string, status = 400): Answer => json({ __type: code, message: code }, status);
const queryError = (code: string): Answer => [
  400,
  `<ErrorResponse><Error><Code>${code}</Code><Message>${code}</Message></Error></ErrorResponse>`,
];
const result = (action: string, body: string): Answer => [
  200,
  `<${action}Response><${action}Result>${body}</${action}Result></${action}Response>`,
];
const certificate = (Status: string, ...SubjectAlternativeNames: string[]) =>
  json({ Certificate: { CertificateArn: certificateArn, Status, SubjectAlternativeNames } });
const subscription = (arn: string) =>
  result(
    'ListSubscriptionsByTopic',
    `<Subscriptions><member><Protocol>email</Protocol><Endpoint>on-call@store.test</Endpoint><SubscriptionArn>${arn}</SubscriptionArn></member></Subscriptions>`,
  );
const stackWithTopic = (status: string) =>
  result(
    'ListStackResources',
    `<StackResourceSummaries><member><ResourceType>AWS::SNS::Topic</ResourceType><ResourceStatus>${status}</ResourceStatus><PhysicalResourceId>arn:aws:sns:eu-west-1:777777777777:alarms</PhysicalResourceId></member></StackResourceSummaries>`,
  );

/** What an account that is ready answers, in the shapes of https://docs.aws.amazon.com: each service's API reference. */
const ready: Readonly<Record<string, Answer>> = {
  GetCallerIdentity: result('GetCallerIdentity', `<Account>${account}</Account>`),
  'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
  'GET /account': json({ cloudwatchRoleArn: `arn:aws:iam::${account}:role/logs` }),
  'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 420 } }),
  'CertificateManager.DescribeCertificate': certificate('ISSUED', '*.store.test'),
  ListStackResources: stackWithTopic('CREATE_COMPLETE'),
  ListSubscriptionsByTopic: subscription('arn:aws:sns:eu-west-1:777777777777:alarms:1'),
};

let answers = ready;
/** The action as each protocol of AWS names it: in the body, a header, or the path. */
const actionOf = async (request: IncomingMessage) =>
  /^Action=(\w+)|&Action=(\w+)/
    .exec(await text(request))
    ?.slice(1)
    .find(Boolean) ??
  [request.headers['x-amz-target']].flat()[0] ??
  `${request.method} ${request.url?.replace(/\/?\?.*|\/$/, '')}`;
const aws = createServer(async (request, response) => {
  const action = await actionOf(request);
  const [status, body] = answers[action] ?? error(`NoAnswerTo ${action}`, 501);
  response.writeHead(status).end(body);
});

beforeAll(async () => {
  await once(aws.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => aws.close());

beforeEach(() => {
  const address = aws.address();
  vi.stubEnv(
    'AWS_ENDPOINT_URL',
    `http://127.0.0.1:${typeof address === 'object' && address?.port}`,
  );
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_REGION', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const stage: Stage = {
  ...prod,
  environment: { account, region },
  alarmAddressees: ['on-call@store.test'],
  customDomain: { domainName: 'api.store.test', certificateArn },
};

describe('the preflight', () => {
  it('finds nothing in an account that is ready', async () => {
    answers = ready;
    expect(await preflight(stage, 'stage')).toEqual([]);
  });

  it.each([
    [
      'another account',
      { GetCallerIdentity: result('GetCallerIdentity', '<Account>123456789012</Account>') },
      /account 123456789012: use credentials of 777777777777/,
    ],
    [
      'no bootstrap',
      { 'AmazonSSM.GetParameter': error('ParameterNotFound') },
      /not bootstrapped: npx cdk bootstrap aws:\/\/777777777777\/eu-west-1$/,
    ],
    [
      'an old bootstrap',
      { 'AmazonSSM.GetParameter': json({ Parameter: { Value: '20' } }) },
      /version 20, .*npx cdk bootstrap aws:/,
    ],
    [
      'no role for logs',
      { 'GET /account': json({}) },
      /npm run deploy -- AnimalStore-account-777777777777-eu-west-1$/,
    ],
    [
      'the quota of a new account',
      { 'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 10 } }) },
      /10 instances .* needs 420: aws service-quotas/,
    ],
    [
      'no certificate',
      { 'CertificateManager.DescribeCertificate': error('ResourceNotFoundException') },
      /no certificate .*: aws acm request-certificate/,
    ],
    [
      'a certificate that waits',
      {
        'CertificateManager.DescribeCertificate': certificate('PENDING_VALIDATION', '*.store.test'),
      },
      /PENDING_VALIDATION, not ISSUED: create the DNS records/,
    ],
    [
      'a certificate of other names',
      {
        'CertificateManager.DescribeCertificate': certificate(
          'ISSUED',
          'store.test',
          '*.api.store.test',
        ),
      },
      /covers .*, not api.store.test: aws acm/,
    ],
    [
      'an addressee who has not confirmed',
      { ListSubscriptionsByTopic: subscription('PendingConfirmation') },
      /^on-call@store.test has not confirmed .*: open the link/,
    ],
    [
      'a permission that is missing',
      { 'GET /account': error('AccessDeniedException', 403) },
      /^Could not check logRole: AccessDeniedException/,
    ],
  ] satisfies [string, Record<string, Answer>, RegExp][])(
    'finds %s, and says what to do',
    async (_what, changed, message) => {
      answers = { ...ready, ...changed };
      expect(await preflight(stage, 'stage')).toEqual([expect.stringMatching(message)]);
    },
  );

  it('finds a certificate of another region', async () => {
    answers = ready;
    const elsewhere = certificateArn.replace(region, 'us-east-1');
    const customDomain = { domainName: 'api.store.test', certificateArn: elsewhere };
    expect(await preflight({ ...stage, customDomain }, 'stage')).toEqual([
      expect.stringMatching(/^The certificate is in us-east-1, not in eu-west-1: aws acm/),
    ]);
  });

  it('finds a region of the credentials that is not the one of the stage', async () => {
    answers = ready;
    vi.stubEnv('AWS_REGION', 'us-east-1');
    expect(await preflight(stage, 'stage')).toEqual([
      'AWS_REGION is us-east-1: set it to eu-west-1, the region of prod.',
    ]);
  });

  it.each([
    ['before the first deployment', queryError('ValidationError')],
    ['after one that was rolled back', stackWithTopic('DELETE_COMPLETE')],
  ])('asks for no confirmation %s', async (_when, ListStackResources) => {
    answers = { ...ready, ListStackResources, ListSubscriptionsByTopic: queryError('NotFound') };
    expect(await preflight(stage, 'stage')).toEqual([]);
  });

  it('asks for nothing that the stack of the account brings', async () => {
    const { GetCallerIdentity, 'AmazonSSM.GetParameter': parameter } = ready;
    answers = {
      ...(GetCallerIdentity && { GetCallerIdentity }),
      ...(parameter && { 'AmazonSSM.GetParameter': parameter }),
    };
    expect(await preflight(stage, 'account')).toEqual([]);
  });
});

const run = (script: string, ...words: string[]) =>
  spawnSync(process.execPath, [script, ...words], {
    cwd: projectDirectory,
    // No AWS_*, and no credentials of the machine.
    env: {
      PATH: process.env['PATH'],
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_OUTDIR: join(tmpdir(), 'none'),
    },
    encoding: 'utf8',
  });

describe('placeholders', () => {
  it('are found in what the repository ships', () => {
    expect(placeholdersIn(prod)).toEqual([
      expect.stringMatching(/^environment of prod is a placeholder: set it in infra\/stages.ts/),
      expect.stringMatching(/^alarmAddressees of prod/),
      expect.stringMatching(/^runbook is no URL/),
    ]);
  });

  it('are not found in a stage that is set, nor in an emulator', () => {
    expect(placeholdersIn(stage, 'https://git.store.test/runbook.md')).toEqual([]);
    expect(placeholdersIn(emulated(staging))).toEqual([]);
  });

  it.each([
    ['npm run preflight', 'infra/commands/preflight.ts', ['--stage', 'prod']],
    ['npm run deploy', 'infra/commands/deploy.ts', ['AnimalStore-prod']],
    ['the synthesis', 'infra/app.ts', []],
  ])('end %s of prod with a message', (_what, script, words) => {
    const { status, stderr } = run(script, ...words);
    expect(status).toBe(1);
    expect(stderr).toContain('environment of prod is a placeholder');
  });
});

describe('npm run deploy', () => {
  it('refuses to deploy what it is not told by name', () => {
    const { status, stderr } = run('infra/commands/deploy.ts', '--all');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: Name a stack: AnimalStore-staging, AnimalStore-account-/);
  });
});
