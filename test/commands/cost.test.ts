import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CostItem, monthlyCost } from '../../infra/cost/monthly-cost.ts';
import { prices } from '../../infra/cost/prices.ts';
import { requestKinds } from '../../infra/cost/request-usage.ts';
import { freeTypes, type Workload } from '../../infra/cost/resource-usage.ts';

type Resources = Record<string, { Type: string; Properties: Record<string, unknown> }>;

const secondsPerMonth = 730 * 3_600;

const lambdaFunction = (Handler: string) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Handler,
    MemorySize: 512,
    Architectures: ['arm64'],
    LoggingConfig: { LogGroup: { Ref: 'Log' } },
  },
});

/** A small stack of each kind of resource that has a price. */
const stack = (): Resources => ({
  Api: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
  Stage: {
    Type: 'AWS::ApiGateway::Stage',
    Properties: {
      TracingEnabled: true,
      AccessLogSetting: {
        DestinationArn: { 'Fn::Join': ['', ['arn:aws:logs:::log-group:', { Ref: 'AccessLog' }]] },
      },
    },
  },
  Get: lambdaFunction('get-pet.handler'),
  Log: { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 90 } },
  AccessLog: { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 90 } },
  Alias: { Type: 'AWS::Lambda::Alias', Properties: {} },
  Pets: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      KeySchema: [{ AttributeName: 'id' }],
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: [{}],
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    },
  },
  Keys: {
    Type: 'AWS::DynamoDB::Table',
    Properties: { KeySchema: [{ AttributeName: 'keyId' }], BillingMode: 'PAY_PER_REQUEST' },
  },
  SingleMetric: { Type: 'AWS::CloudWatch::Alarm', Properties: { Period: 60 } },
  Ratio: {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      Metrics: [
        { Expression: 'errors / requests' },
        { MetricStat: { Period: 300 } },
        { MetricStat: { Period: 300 } },
      ],
    },
  },
  Dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties: {} },
  Firewall: {
    Type: 'AWS::WAFv2::WebACL',
    Properties: {
      Rules: [
        { Statement: { RateBasedStatement: {} } },
        {
          Statement: {
            ManagedRuleGroupStatement: {
              VendorName: 'AWS',
              Name: 'AWSManagedRulesCommonRuleSet',
            },
          },
        },
      ],
    },
  },
});

const gets = (requests: number): Workload => ({
  traffic: [
    {
      functionName: 'get-pet',
      durationMs: 10,
      readUnits: 0.5,
      writeUnits: 0,
      responseBytes: 1_024,
      requests,
    },
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

const errorOf = (act: () => unknown): Error => {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It did not fail');
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
      // 2 million of 630 + 400 bytes in the function's log and 400 in the access log: 2.6636 GB, at $0.57
      'Log lines written': 1.5182,
      // 15 % of them for 90 of 30.4167 days: 1.1822 GB, at $0.03
      'Log lines kept': 0.0355,
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

  it('takes twice the GB-seconds with twice the memory, or twice the duration, and changes nothing else', () => {
    fc.assert(
      fc.property(requestCount, fc.integer({ min: 128, max: 5_120 }), (requests, memory) => {
        const workload = gets(requests);
        const items = costOf(changed('Get', { MemorySize: memory }), workload);
        const twiceTheMemory = costOf(changed('Get', { MemorySize: 2 * memory }), workload);
        const slow = workload.traffic.map((kind) => ({ ...kind, durationMs: 2 * kind.durationMs }));
        const twiceTheTime = costOf(changed('Get', { MemorySize: memory }), {
          ...workload,
          traffic: slow,
        });
        for (const [name, { quantity }] of items) {
          const factor = name === 'Lambda compute, arm64' ? 2 : 1;
          expect(twiceTheMemory.get(name)?.quantity).toBeCloseTo(factor * quantity, 3);
          expect(twiceTheTime.get(name)?.quantity).toBeCloseTo(factor * quantity, 3);
        }
      }),
    );
  });

  it('adds up what several functions use', () => {
    const resources = { ...stack(), List: lambdaFunction('list-pets.handler') };
    const traffic = [requestKinds.list, requestKinds.list100, requestKinds.get].map((kind) => ({
      ...kind,
      requests: 1_000,
    }));
    const items = costOf(resources, { traffic, pets: 0, customMetrics: 0 });
    expect(items.get('Lambda requests')?.quantity).toBe(3_000);
    expect(items.get('DynamoDB reads of pets')?.quantity).toBe(500 + 1_500 + 500);
    expect(items.get('DynamoDB reads of keys')?.quantity).toBe(2 * 43_800 * 0.5);
  });

  it.each([
    ['no access log', changed('Stage', { AccessLogSetting: undefined }), 'Log lines written'],
    [
      'no lines of Lambda itself',
      changed('Get', { LoggingConfig: { LogGroup: { Ref: 'Log' }, SystemLogLevel: 'WARN' } }),
      'Log lines written',
    ],
    ['a shorter retention', changed('Log', { RetentionInDays: 14 }), 'Log lines kept'],
  ])('costs less for its log with %s', (_what, resources, name) => {
    const usdOf = (all: Resources) => costOf(all, gets(1_000_000)).get(name)?.usd ?? 0;
    expect(usdOf(resources)).toBeLessThan(usdOf(stack()));
  });

  it.each([
    ['X-Ray traces', changed('Stage', { TracingEnabled: false })],
    ['Point-in-time recovery', changed('Pets', { PointInTimeRecoverySpecification: undefined })],
  ])('has no item %s when the stack does without', (name, resources) => {
    expect(costOf(stack(), gets(1_000)).has(name)).toBe(true);
    expect(costOf(resources, gets(1_000)).has(name)).toBe(false);
  });
});

describe('what has no known price', () => {
  it('is announced by type and name, all of it at once', () => {
    const resources = {
      ...stack(),
      Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
      Key: { Type: 'AWS::KMS::Key', Properties: {} },
    };
    expect(() => costOf(resources, gets(1))).toThrow(
      'No price is known for AWS::SQS::Queue (Queue), AWS::KMS::Key (Key)',
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
    ['a function whose log is kept for ever', 'Get', { LoggingConfig: undefined }],
    ['a log that is kept for ever', 'Log', { RetentionInDays: undefined }],
    ['an alarm on seconds', 'SingleMetric', { Period: 10 }],
    ['an alarm on a query', 'Ratio', { Metrics: [{ Expression: 'SELECT AVG(x)' }] }],
    [
      'a rule with a price of its own',
      'Firewall',
      {
        Rules: [
          {
            Statement: {
              ManagedRuleGroupStatement: {
                VendorName: 'AWS',
                Name: 'AWSManagedRulesBotControlRuleSet',
              },
            },
          },
        ],
      },
    ],
  ])('is announced when it is %s', (_what, id, properties) => {
    const { message } = errorOf(() => costOf(changed(id, properties), gets(1)));
    expect(message).toMatch(/^No price is known for AWS::\w+::\w+ \(\w+\) as it is: \w/);
    expect(message).toContain(id);
    expect(message).not.toContain('\n');
  });

  it('is announced when it is a function that the stack has under another name', () => {
    const renamed = changed('Get', { Handler: 'find-pet.handler' });
    expect(() => costOf(renamed, gets(1))).toThrow('The stack has no function get-pet');
  });

  it('is not what costs nothing', () => {
    const free = Object.fromEntries([...freeTypes].map((Type) => [Type, { Type, Properties: {} }]));
    expect(costOf({ ...stack(), ...free }, gets(9))).toEqual(costOf(stack(), gets(9)));
  });
});

describe('each price', () => {
  it.each(Object.entries(prices))(
    'of %s has an amount, a date and a page of AWS',
    (_name, price) => {
      expect(price.usd).toBeGreaterThan(0);
      expect(Date.parse(price.asOf)).toBeLessThanOrEqual(Date.now());
      expect(price.source).toMatch(/^https:\/\/(aws\.amazon|pricing\.us-east-1\.amazonaws)\.com\//);
    },
  );
});

/** Runs `npm run cost --`. */
const cost = async (...words: readonly string[]) => {
  const child = spawn(process.execPath, ['infra/commands/cost.ts', ...words], { stdio: 'pipe' });
  const [out, err, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { out, err, exitCode };
};

describe('npm run cost', () => {
  it('knows a price for everything in every stage, and prints JSON', async () => {
    const { out, err, exitCode } = await cost('--requests', '1000000', '--json');
    expect(err).toBe('');
    expect(exitCode).toBe(0);
    const { stages } = JSON.parse(out);
    expect(Object.keys(stages)).toEqual(['staging', 'prod']);
    for (const { items, fixedUsd, variableUsd, totalUsd } of Object.values<{
      items: CostItem[];
      fixedUsd: number;
      variableUsd: number;
      totalUsd: number;
    }>(stages)) {
      const sum = items.reduce((total, { usd }) => total + usd, 0);
      expect(totalUsd).toBeCloseTo(fixedUsd + variableUsd, 6);
      expect(Math.abs(totalUsd - sum)).toBeLessThan(0.02);
      const requests = items.find(({ name }) => name === 'Lambda requests');
      expect(requests?.quantity).toBeCloseTo(1_000_000, 3);
    }
  }, 120_000);

  it('prints a table for a stage, with what is fixed and what grows', async () => {
    const mix = ['--mix', 'get=100', '--duration-ms', 'get=100', '--custom-metrics', '0'];
    const { out, exitCode } = await cost('--requests', '2000000', '--stage', 'prod', ...mix);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/REST API requests +│ 2000000 +│ 3\.5 +│ 'million requests' +│ 7 +│ true/);
    expect(out).toMatch(/DynamoDB reads of pets +│ 1000000 /);
    expect(out).toMatch(/Custom metrics +│ 0 .* false/);
    expect(out).toMatch(
      /^AnimalStore-prod: \$[\d.]+ fixed \+ \$[\d.]+ for 2,000,000 requests = \$[\d.]+ a month$/m,
    );
    expect(out).not.toContain('staging');
  }, 120_000);

  it('explains itself', async () => {
    const { out, exitCode } = await cost('--help');
    expect(exitCode).toBe(0);
    expect(out).toContain('list=70,get=20,create=10');
    expect(out.replace(/\s+/g, ' ')).toContain('Free tiers, taxes and support are left out.');
  });

  it.each([
    ['no number of requests', [], /--requests/],
    ['requests that are no number', ['--requests', '1e6'], /whole number/],
    ['more requests than the prices hold for', ['--requests', '333000001'], /up to 333,000,000/],
    ['an unknown stage', ['--requests', '1', '--stage', 'test'], /staging, prod/],
    ['a mix of less than all', ['--requests', '1', '--mix', 'list=70,get=20'], /add up to 90/],
    ['a mix with an unknown kind', ['--requests', '1', '--mix', 'delete=100'], /list, list100/],
    ['a mix without numbers', ['--requests', '1', '--mix', 'list'], /like list=70,get=30/],
    ['a negative duration', ['--requests', '1', '--duration-ms', 'get=-1'], /like list=70/],
    ['an unknown option', ['--requests', '1', '--region', 'us-east-1'], /unknown option/],
  ])('says what is wrong with %s and exits with 1', async (_what, words, message) => {
    const { err, out, exitCode } = await cost(...words);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at /);
    expect(out).toBe('');
    expect(exitCode).toBe(1);
  });
});
