import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAccount } from '../../infra/commands/open-account.ts';
import { preflight } from '../../infra/commands/preflight.ts';
import { placeholdersIn, warningsOf } from '../../infra/settings/stage-problems.ts';
import { emulated, prod, type Stage, staging } from '../../infra/settings/stages.ts';
import { operations } from '../../lib/operations/operations.ts';
import {
  caller,
  json,
  jsonError,
  noStack,
  type Responses,
  resourcesOfStack,
  startAwsEndpoint,
  xml,
  xmlError,
} from '../support/aws-endpoint.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';

const account = '777777777777';
const region = 'eu-west-1';
const certificateArn = `arn:aws:acm:${region}:${account}:certificate/1`;
const topicArn = `arn:aws:sns:${region}:${account}:alarms`;

const quota = (ConcurrentExecutions: number, ofOthers = 0, own = 0) => {
  const UnreservedConcurrentExecutions = ConcurrentExecutions - ofOthers - own;
  const AccountLimit = { ConcurrentExecutions, UnreservedConcurrentExecutions };
  return {
    'GET /2016-08-19/account-settings': json({ AccountLimit }),
    'GET /2019-09-30/functions/one/concurrency': json({ ReservedConcurrentExecutions: own }),
  };
};
const logRole = (cloudwatchRoleArn?: string) => ({ 'GET /account': json({ cloudwatchRoleArn }) });
const parameter = (Value: string) => ({ GetParameter: json({ Parameter: { Value } }) });
const without = (name: string) => ({
  GetParameter: (body: string) =>
    body.includes(name) ? jsonError('ParameterNotFound') : json({ Parameter: { Value: '33' } }),
});
const subscribed = (...arns: string[]) => {
  const Endpoint = 'on-call@store.test';
  const Subscriptions = arns.map((SubscriptionArn) => ({ Endpoint, SubscriptionArn }));
  return { ListSubscriptionsByTopic: xml('ListSubscriptionsByTopic', { Subscriptions }) };
};
const domainName = 'api.store.test';
const stackOf = (status: string, ofDomain = domainName) =>
  resourcesOfStack(
    ['Lambda::Function', 'one', 'one', status],
    // A topic that is not that of the alarms.
    ['SNS::Topic', 'Orders', `${topicArn}-not`, status],
    ['SNS::Subscription', 'OrdersQueue', `${topicArn}-not:1`, status],
    ['SNS::Topic', 'MonitoringTopic', topicArn, status],
    ['SNS::Subscription', 'MonitoringTopicOnCall', `${topicArn}:1`, status],
    ['ApiGateway::DomainName', 'Domain', ofDomain, status],
  );

const { eachOperation = 0, fallback = 0 } = prod.reservedConcurrency ?? {};
/** What the functions reserve, and what an account leaves unreserved. */
const neededInstances = operations.length * eachOperation + fallback + 100;

/** The responses of an account that is ready. */
const ready: Responses = {
  ...caller(account),
  ...parameter('33'),
  ...logRole(`arn:aws:iam::${account}:role/logs`),
  GetRole: xml('GetRole', { Role: { RoleName: 'logs' } }),
  ...quota(neededInstances),
  ListStackResources: stackOf('CREATE_COMPLETE'),
  ...subscribed(`${topicArn}:1`),
};

const aws = await startAwsEndpoint();

beforeEach(() => {
  aws.responses = ready;
});

const stage: Stage = {
  ...prod,
  environment: { account, region },
  alarmRecipients: ['on-call@store.test'],
  customDomain: { domainName, certificateArn },
};

/** What the preflight prints about a stage. */
const problemsOf = async (of: Stage) =>
  (await preflight(of, await openAccount(of))).map(({ problem }) => problem);

describe('the preflight', () => {
  it('finds nothing in an account that is ready', async () => {
    expect(await problemsOf(stage)).toEqual([]);
    aws.responses = { ...ready, ...quota(neededInstances + 50, 50, 20) };
    expect(await problemsOf(stage)).toEqual([]);
  });

  it.each<[message: RegExp, changed: Responses]>([
    [/bootstrap is missing: npm run deploy -- --stage prod$/, without('bootstrap')],
    [/version 20, and needs 21: npm run deploy -- --stage prod$/, parameter('20')],
    [/no role .* npm run deploy -- --stage prod$/, logRole()],
    [
      /^The role arn:.*role\/logs, .* does not exist: npm run deploy -- --stage prod$/,
      { GetRole: xmlError('NoSuchEntity') },
    ],
    [
      new RegExp(
        `10 instances .* needs ${neededInstances} .*aws service-quotas .* --region eu-west-1`,
      ),
      quota(10),
    ],
    [
      new RegExp(`reserved 50, .* needs ${neededInstances + 50} .*aws service-quotas`),
      quota(neededInstances, 50, 20),
    ],
    [/^on-call@store.test has not confirmed .*: open the link/, subscribed('PendingConfirmation')],
    [/^1 of the recipients of prod .*: aws sns subscribe --topic-arn arn:/, subscribed()],
    [/no API key: npm run keys -- issue --for-probe --stage prod$/, without('probe-api-key')],
    [
      /^Could not check logRole: APIGateway GetAccount: AccessDenied/,
      { 'GET /account': jsonError('AccessDenied', 403) },
    ],
  ])('finds a problem, and says what to do: %s', async (message, changed) => {
    aws.responses = { ...ready, ...changed };
    expect(await problemsOf(stage)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['no stack', noStack],
    ['no such domain', stackOf('DELETE_COMPLETE')],
    ['another domain', stackOf('UPDATE_COMPLETE', 'old.store.test')],
  ])('refuses to turn off the default address where there is %s', async (_what, stack) => {
    const earlier = { ...stage, alarmRecipients: undefined };
    const customDomain = { domainName, certificateArn, isOnlyAddress: true };
    aws.responses = { ...ready, ListStackResources: stack };
    expect(await problemsOf({ ...earlier, customDomain })).toContainEqual(
      expect.stringMatching(/^prod has no domain api.store.test yet/),
    );
    expect(await problemsOf(earlier)).toEqual([]);
  });

  it('suggests commands for the emulator', async () => {
    aws.responses = { ...ready, ...without('bootstrap') };
    expect(await problemsOf(emulated({ ...stage, name: 'staging' }))).toContainEqual(
      expect.stringMatching(/npm run deploy -- --stage staging --emulator$/),
    );
  });

  it('takes the role of logs for one that exists where nobody may ask', async () => {
    aws.responses = { ...ready, GetRole: xmlError('AccessDenied') };
    expect(await problemsOf(stage)).toEqual([]);
  });

  it('asks the domain before it lets the default address be turned off', async () => {
    await using certificateOfDomain = await makeCertificate(['localhost']);
    const server = createServer(certificateOfDomain, (_request, response) => {
      response.writeHead(503).end();
    });
    const domainAt = (port: number) => {
      const domain = `localhost:${port}`;
      aws.responses = {
        ...ready,
        ListStackResources: stackOf('UPDATE_COMPLETE', domain),
      };
      const customDomain = { domainName: domain, certificateArn, isOnlyAddress: true };
      return problemsOf({ ...stage, customDomain });
    };
    const port = await listen(server);
    expect(await domainAt(port)).toEqual([
      expect.stringMatching(/^https:\/\/localhost:\d+ can't be reached \(.*certif.*\): point its/),
    ]);
    const trusted = await readFile(certificateOfDomain.file, 'utf8');
    setDefaultCACertificates([...getCACertificates(), trusted]);
    expect(await domainAt(port)).toEqual([]);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    expect(await domainAt(port)).toEqual([
      expect.stringMatching(/can't be reached \(.*ECONNREFUSED/),
    ]);
  });

  it.each([
    ['before the first deployment', noStack],
    ['after one that was rolled back', stackOf('DELETE_COMPLETE')],
  ])('asks for no confirmation, and no key of the probe, %s', async (_when, ListStackResources) => {
    aws.responses = {
      ...ready,
      ListStackResources,
      ListSubscriptionsByTopic: xmlError('NotFound'),
    };
    expect(await problemsOf(stage)).toEqual([]);
    expect(aws.requests.map(({ body }) => body).join()).not.toContain('probe-api-key');
  });
});

describe('placeholders', () => {
  it('are found in a stage that is not set', () => {
    const unset = { ...prod, name: 'qa', environment: { region }, alarmRecipients: [] };
    expect(placeholdersIn(unset, { link: '', packageName: '@store/client' })).toEqual([
      expect.stringMatching(/^environment of qa has no account/),
      expect.stringMatching(/^alarmRecipients of qa is empty/),
    ]);
    const packageName = '@example.com/animal-store-client';
    expect(placeholdersIn(stage, { link: 'infra/runbook.md', packageName })).toEqual([
      expect.stringMatching(/^runbookLink /),
      expect.stringMatching(/^clientPackage has no npm scope/),
    ]);
  });

  it('are not found in a stage that is set, nor in an emulator', () => {
    const link = 'https://git.store.test/runbook.md';
    const packageName = '@store/animal-store-client';
    expect(placeholdersIn(stage, { link, packageName })).toEqual([]);
    expect(placeholdersIn(stage, { link, packageName: 'animal-store-client' })).toHaveLength(1);
    expect(placeholdersIn(emulated(staging))).toEqual([]);
  });
});

describe('the settings of a stage', () => {
  const warnings = (environment: Stage['environment']) =>
    warningsOf({ ...staging, name: 'qa', environment }, [region], [stage]);
  const own = '111122223333';

  it.each([
    ['an unknown region', { account: own, region: 'eu-wst-1' }, /^environment of qa .* eu-wst-1/],
    ['the account of production', { account, region }, /^qa has the account of prod/],
  ])('are warned of with %s', (_what, environment, warning) => {
    expect(warnings(environment)).toEqual([expect.stringMatching(warning)]);
  });

  it('are fine with an account of their own, and before they have one', () => {
    for (const environment of [{ account: own, region }, { region }, undefined])
      expect(warnings(environment)).toEqual([]);
    expect(warningsOf(stage, [region], [stage])).toEqual([]);
  });
});
