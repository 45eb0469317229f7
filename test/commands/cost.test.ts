import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { monthlyCost } from '../../infra/cost/monthly-cost.ts';
import { prices } from '../../infra/cost/prices.ts';
import { customMetrics } from '../../infra/cost/request-usage.ts';
import { projectDirectory } from '../../infra/project-directory.ts';

const resource = (type: string, Properties: Record<string, unknown> = {}) => ({
  Type: `AWS::${type}`,
  Properties,
});

/** A small stack of each kind of resource that has a price. */
const stack = {
  Api: resource('ApiGateway::RestApi'),
  Stage: resource('ApiGateway::Stage'),
  Get: resource('Lambda::Function', { Handler: 'get-pet.handler', MemorySize: 512 }),
  Probe: resource('Lambda::Function', { Handler: 'probe.handler', MemorySize: 256 }),
  Alias: resource('Lambda::Alias'),
  Log: resource('Logs::LogGroup', { RetentionInDays: 90 }),
  Pets: resource('DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    GlobalSecondaryIndexes: [{}],
    PointInTimeRecoverySpecification: {},
  }),
  SingleMetric: resource('CloudWatch::Alarm', { MetricName: 'Requests' }),
  Ratio: resource('CloudWatch::Alarm', {
    Metrics: [{ Expression: 'a / b' }, { MetricStat: {} }, { MetricStat: {} }],
  }),
  Dashboard: resource('CloudWatch::Dashboard'),
  EveryMinute: resource('Events::Rule', { ScheduleExpression: 'rate(1 minute)' }),
  Firewall: resource('WAFv2::WebACL', { Rules: [{}, {}] }),
};

/** What a month of the stack costs with this many requests to getPet, and with other resources. */
const costOf = (requests: number, resources: Readonly<Record<string, typeof stack.Api>> = {}) => {
  const usage = { handler: 'get-pet', durationMs: 10, readUnits: 0.5, responseBytes: 1_024 };
  const items = monthlyCost({ Resources: { ...stack, ...resources } }, [{ ...usage, requests }]);
  return new Map(items.map((item) => [item.price, item]));
};

describe('a month of a stack', () => {
  it.each([
    // 2 million, and 43,800 of the probe
    [prices.restApiRequest, 3.5 * 2.0438],
    // 2 million of 1 KiB
    [prices.transferOut, 0.09 * 1.9073],
    [prices.lambdaRequest, 0.2 * 2.0876],
    // 2 million of 10 ms at 0.5 GiB, and 43,800 of 300 ms at 0.25 GiB
    [prices.lambdaArm, 13.3334 * (0.01 + 0.003285)],
    [prices.trace, 5 * 2.0876],
    // 2 million of half a unit, and half a unit for keys in each of 43,800 minutes in three functions
    [prices.tableRead, 0.1415 * (1 + 0.0657)],
    [prices.tableWrite, 0],
    // 100,000 of 270 + 190 bytes
    [prices.tableStorage, 0.283 * 0.0428],
    [prices.tableRecovery, 0.22 * 0.0251],
    // 2 million of 1,600 bytes, and 43,800 of 1,000
    [prices.logIngestion, 0.57 * (2.9802 + 0.0408)],
    // 15 % of them for 90 of 30.4167 days
    [prices.logStorage, 0.03 * 1.3408],
    [prices.customMetric, 0.3 * customMetrics],
    [prices.alarmMetric, 0.1 * 3],
    [prices.dashboard, 3],
    [prices.webAcl, 5],
    [prices.webAclRule, 2],
    [prices.webAclRequest, 0.6 * 2],
  ])('costs what it does by hand: $per', (price, usd) => {
    expect(costOf(2_000_000).get(price)?.usd).toBeCloseTo(usd, 4);
  });

  it('traces the first request of a second and 5 % of the others', () => {
    const extra = (costOf(3_628_000).get(prices.trace)?.quantity ?? 0) - 2.628 - 0.0876;
    expect(extra).toBeCloseTo(0.05, 6);
  });

  it.each([
    ['AWS::SQS::Queue Queue', { Queue: resource('SQS::Queue') }],
    [
      'StreamSpecification of AWS::DynamoDB::Table Table',
      { Table: resource('DynamoDB::Table', { StreamSpecification: {} }) },
    ],
    [
      'ProvisionedConcurrencyConfig of AWS::Lambda::Alias Alias',
      { Alias: resource('Lambda::Alias', { ProvisionedConcurrencyConfig: {} }) },
    ],
    ['AWS::DynamoDB::Table Pets: BillingMode', { Pets: resource('DynamoDB::Table') }],
    ['AWS::Logs::LogGroup Log: RetentionInDays', { Log: resource('Logs::LogGroup') }],
  ])('is refused where no price is known: %s', (message, resources) => {
    expect(() => costOf(1, resources)).toThrow(message);
  });
});

// `.ci/run` compares the totals of a million requests with infra/README.md.
it('npm run cost prices everything in each stage, with the given durations', () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['infra/commands/cost.ts', '--requests', '2000000', '--duration-ms', 'list=1000'],
    { cwd: projectDirectory, encoding: 'utf8' },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(
    stdout.match(/^AnimalStore-.*: \$[\d.]+ fixed \+ .* for 2,000,000 requests = /gm),
  ).toHaveLength(2);
  // 1.4 million lists of 1 s at 1 GiB
  expect(stdout).toMatch(/million Lambda GB-seconds, arm64 │ 1\.4 /);
});
