import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CostItem, monthlyCost, type Workload } from '../../infra/cost/monthly-cost.ts';
import { customMetrics, requestKinds } from '../../infra/cost/request-usage.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { stackName, stages } from '../../infra/stages.ts';
import { readTemplate } from '../../infra/template/build-stack.ts';
import { assemblyDirectory } from '../support/stack.ts';

type Resources = Record<string, { Type: string; Properties: Record<string, unknown> }>;

const secondsPerMonth = 730 * 3_600;

const resource = (type: string, Properties: Record<string, unknown> = {}) => ({
  Type: `AWS::${type}`,
  Properties,
});
const lambdaFunction = (Handler: string) =>
  resource('Lambda::Function', {
    Handler,
    MemorySize: 512,
    Architectures: ['arm64'],
    LoggingConfig: { LogGroup: { Ref: 'Log' } },
  });
const table = (AttributeName: string, properties: Record<string, unknown> = {}) =>
  resource('DynamoDB::Table', {
    KeySchema: [{ AttributeName }],
    BillingMode: 'PAY_PER_REQUEST',
    ...properties,
  });
const managedRules = (Name: string) => ({
  Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name } },
});
const accessLog = { 'Fn::Join': ['', ['arn:aws:logs:::log-group:', { Ref: 'AccessLog' }]] };

/** A small stack of each kind of resource that has a price. */
const stack = (): Resources => ({
  Api: resource('ApiGateway::RestApi'),
  Stage: resource('ApiGateway::Stage', {
    TracingEnabled: true,
    AccessLogSetting: { DestinationArn: accessLog },
  }),
  Get: lambdaFunction('get-pet.handler'),
  Log: resource('Logs::LogGroup', { RetentionInDays: 90 }),
  AccessLog: resource('Logs::LogGroup', { RetentionInDays: 90 }),
  Alias: resource('Lambda::Alias'),
  Pets: table('id', {
    GlobalSecondaryIndexes: [{}],
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  }),
  Keys: table('keyId'),
  SingleMetric: resource('CloudWatch::Alarm', { Period: 60 }),
  Ratio: resource('CloudWatch::Alarm', {
    Metrics: [{ Expression: 'a / b' }, ...Array(2).fill({ MetricStat: { Period: 300 } })],
  }),
  Dashboard: resource('CloudWatch::Dashboard'),
  Probe: resource('Events::Rule', { ScheduleExpression: 'rate(1 minute)' }),
  Firewall: resource('WAFv2::WebACL', {
    Rules: [
      { Statement: { RateBasedStatement: {} } },
      managedRules('AWSManagedRulesCommonRuleSet'),
    ],
  }),
});

const gets = (requests: number): Workload => ({
  traffic: [
    { functionName: 'get-pet', durationMs: 10, readUnits: 0.5, responseBytes: 1_024, requests },
  ],
  pets: 100_000,
  customMetrics: 10,
});

const costOf = (Resources: Resources, workload: Workload): Map<string, CostItem> =>
  new Map(monthlyCost({ Resources }, workload).map((item) => [item.name, item]));

/** The stack with other properties of one resource. */
const changed = (id: string, properties: Record<string, unknown>): Resources => {
  const resources = stack();
  Object.assign(resources[id]?.Properties ?? {}, properties);
  return resources;
};

const requestCount = fc.integer({ min: 1, max: 333_000_000 });

describe('a month of a stack', () => {
  it('costs what it does by hand', () => {
    const items = costOf(stack(), gets(2_000_000));
    const dollars = [...items].map(([name, { usd }]) => [name, Number(usd.toFixed(4))]);
    expect(Object.fromEntries(dollars)).toEqual({
      // 2 million at $3.50
      'REST API requests': 7,
      // 2 million of 1 KiB are 1.9073 GB, at $0.09
      'Responses to the internet': 0.1717,
      // 2 million in 2,628,000 seconds: all of them, at $5 a million
      'X-Ray traces': 10,
      // 2 million of 800 + 400 bytes in the function's log and 400 in the access log: 2.9802 GB, at $0.57
      'Log lines written': 1.6987,
      // 15 % of them for 90 of 30.4167 days: 1.3227 GB, at $0.03
      'Log lines kept': 0.0397,
      // 2 million at $0.20
      'Lambda requests': 0.4,
      // 2 million of 10 ms at 0.5 GB are 10,000 GB-seconds, at $0.0000133334
      'Lambda compute, arm64': 0.1333,
      // 2 million of half a unit, at $0.1415 a million
      'DynamoDB reads of pets': 0.1415,
      'DynamoDB writes of pets': 0,
      // 43,800 minutes of half a unit, by one function
      'DynamoDB reads of keys': 0.0031,
      // 100,000 of 270 + 190 bytes are 0.0428 GB, at $0.283
      'DynamoDB storage': 0.0121,
      // 100,000 of 270 bytes are 0.0251 GB, at $0.22
      'Point-in-time recovery': 0.0055,
      // 1 + 2, at $0.10
      'Alarm metrics': 0.3,
      Dashboards: 3,
      'Web ACLs': 5,
      'Web ACL rules': 2,
      // 2 million at $0.60
      'Web ACL requests': 1.2,
      // 43,800 minutes at $3.50 a million
      'Probe: REST API requests': 0.1533,
      // The probe's own and the one that answers it, at $0.20 a million
      'Probe: Lambda requests': 0.0175,
      // 43,800 of 300 ms at 0.25 GB are 3,285 GB-seconds
      'Probe: Lambda compute, arm64': 0.0438,
      // Each is the first request of its second: 87,600 at $5 a million
      'Probe: X-Ray traces': 0.438,
      // 43,800 of 1,000 bytes are 0.0408 GB
      'Probe: log lines': 0.0233,
      // 10 at $0.30
      'Custom metrics': 3,
    });
  });

  it('is linear in the requests: fixed items stay, the others grow in proportion', () => {
    const once = costOf(stack(), gets(1));
    fc.assert(
      fc.property(requestCount, (requests) => {
        for (const [name, { isFixed, usd }] of costOf(stack(), gets(requests))) {
          if (name === 'X-Ray traces') continue;
          const unit = once.get(name)?.usd ?? Number.NaN;
          expect(usd, name).toBeCloseTo(isFixed ? unit : unit * requests, 6);
        }
      }),
    );
  });

  it('traces the first request of a second and 5 % of the others', () => {
    fc.assert(
      fc.property(requestCount, (requests) => {
        const traced = costOf(stack(), gets(requests)).get('X-Ray traces')?.quantity;
        const others = Math.max(0, requests - secondsPerMonth);
        expect(traced).toBeCloseTo(requests - others * 0.95, 3);
      }),
    );
  });

  it('adds up what several functions use', () => {
    const { list, list100, get } = requestKinds;
    const traffic = [list, list100, get].map((kind) => ({ ...kind, requests: 1_000 }));
    const items = costOf(stack(), { traffic, pets: 0, customMetrics: 0 });
    expect(items.get('DynamoDB reads of pets')?.quantity).toBe(500 + 1_500 + 500);
    expect(items.get('DynamoDB reads of keys')?.quantity).toBe(2 * 43_800 * 0.5);
  });

  it.each([
    ['Log lines written', 'Stage', { AccessLogSetting: undefined }],
    [
      'Log lines written',
      'Get',
      { LoggingConfig: { LogGroup: { Ref: 'Log' }, SystemLogLevel: 'WARN' } },
    ],
    ['Log lines kept', 'Log', { RetentionInDays: 14 }],
    ['X-Ray traces', 'Stage', { TracingEnabled: false }],
    ['Point-in-time recovery', 'Pets', { PointInTimeRecoverySpecification: undefined }],
  ])('costs less for %s when %s has %o', (name, id, properties) => {
    const usdOf = (resources: Resources) => costOf(resources, gets(1_000_000)).get(name)?.usd ?? 0;
    expect(usdOf(changed(id, properties))).toBeLessThan(usdOf(stack()));
  });
});

describe('a resource without a known price', () => {
  it('is named when it is a new type', () => {
    const resources = { ...stack(), Queue: resource('SQS::Queue') };
    expect(() => costOf(resources, gets(1))).toThrow(
      'No price is known for AWS::SQS::Queue (Queue)',
    );
  });

  it.each([
    ['a table with provisioned capacity', 'Pets', { BillingMode: 'PROVISIONED' }],
    ['a table with a key of KMS', 'Pets', { SSESpecification: { SSEEnabled: true } }],
    ['a table of another purpose', 'Keys', { KeySchema: [{ AttributeName: 'orderId' }] }],
    ['a cache of responses', 'Stage', { CacheClusterEnabled: true }],
    ['metrics of methods', 'Stage', { MethodSettings: [{ MetricsEnabled: true }] }],
    ['provisioned concurrency', 'Alias', { ProvisionedConcurrencyConfig: {} }],
    ['more temporary storage', 'Get', { EphemeralStorage: { Size: 1_024 } }],
    ['a function whose log never expires', 'Get', { LoggingConfig: undefined }],
    ['a log that never expires', 'Log', { RetentionInDays: undefined }],
    ['an alarm on seconds', 'SingleMetric', { Period: 10 }],
    ['a rule for another function than the probe', 'Probe', { EventPattern: {} }],
    ['an alarm on a query', 'Ratio', { Metrics: [{ Expression: 'SELECT AVG(x)' }] }],
    [
      'a rule with a price of its own',
      'Firewall',
      { Rules: [managedRules('AWSManagedRulesBotControlRuleSet')] },
    ],
  ])('is named in one line when it is %s', (_what, id, properties) => {
    expect(() => costOf(changed(id, properties), gets(1))).toThrow(
      new RegExp(
        `^No price is known for AWS::\\w+::\\w+ \\((?=.*\\b${id}\\b)\\w+\\) as it is: \\w.*$`,
      ),
    );
  });
});

it.each(Object.values(stages))('everything in $name has a price', async (stage) => {
  const template = await readTemplate(assemblyDirectory(), stackName(stage));
  const traffic = Object.values(requestKinds).map((kind) => ({ ...kind, requests: 1_000 }));
  const items = monthlyCost(template, { traffic, pets: 0, customMetrics });
  const lambda = items.find(({ name }) => name === 'Lambda requests');
  expect(lambda?.quantity).toBe(1_000 * traffic.length);
});

/** Runs `npm run cost --`. */
const cost = (options: string) =>
  spawnSync(process.execPath, ['infra/commands/cost.ts', ...options.split(' ')], {
    cwd: projectDirectory,
    encoding: 'utf8',
  });

// `.ci/run` compares the printed totals with infra/README.md.
describe('npm run cost', () => {
  it('computes the chosen stage, mix, durations and metrics', () => {
    const { stdout, stderr, status } = cost(
      '--requests 2000000 --stage prod --mix get=100 --duration-ms get=100 --custom-metrics 0 --json',
    );
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const { stages: all } = JSON.parse(stdout);
    expect(Object.keys(all)).toEqual(['prod']);
    const { items, fixedUsd, variableUsd, totalUsd } = all.prod;
    expect(items).toEqual(
      expect.arrayContaining(
        [
          { name: 'REST API requests', quantity: 2_000_000, usd: 7, isFixed: false },
          { name: 'DynamoDB reads of pets', quantity: 1_000_000 },
          { name: 'Custom metrics', quantity: 0, isFixed: true },
        ].map((item) => expect.objectContaining(item)),
      ),
    );
    const sum = items.reduce((total: number, { usd }: CostItem) => total + usd, 0);
    expect(totalUsd).toBeCloseTo(fixedUsd + variableUsd, 6);
    expect(Math.abs(totalUsd - sum)).toBeLessThan(0.02);
  });

  it.each([
    ['no number of requests', '--json', /--requests/],
    ['a number that is not whole', '--requests 1e6', /whole number/],
    ['more requests than the prices hold for', '--requests 333000001', /up to 333,000,000/],
    ['a mix of less than all', '--requests 1 --mix list=70,get=20', /add up to 90/],
    ['a mix with an unknown kind', '--requests 1 --mix delete=100', /list, list100/],
    ['a mix without numbers', '--requests 1 --mix list', /like list=70,get=30/],
    ['a negative duration', '--requests 1 --duration-ms get=-1', /like list=70/],
  ])('says what is wrong with %s and exits with 1', (_what, options, message) => {
    const { stderr, stdout, status } = cost(options);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
  });
});
