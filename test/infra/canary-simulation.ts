import { Template } from 'aws-cdk-lib/assertions';
import { prod, stackName } from '../../infra/stages.ts';
import { readTemplate, withAssembly } from '../../infra/template/build-stack.ts';
import { type AlarmCondition, alarmsOf } from '../support/alarms.ts';

/** How a new version behaves: which part of its requests gets 5xx, and how many times as long as usual each takes. */
interface Version {
  readonly name: string;
  readonly failing: number;
  readonly slowness: number;
}

const good: Version = { name: 'good: fails 0.01 %', failing: 0.0001, slowness: 1 };
export const versions: readonly Version[] = [
  good,
  ...[1, 2, 5, 20].map((n) => ({ ...good, name: `fails ${n} %`, failing: n / 100 })),
  ...[3, 10].map((n) => ({ ...good, name: `${n} times slower`, slowness: n })),
];

/** Requests a second to one function, before the split; to the API no other function adds any. */
export const rates = [1, 10, 100];
export const releases = 1_000;

const canarySeconds = 60 * (prod.canaryMinutes ?? 0);
const newShare = 0.1;
/** Whole minutes before the deployment that the longest period of an alarm on the old version's requests reaches back to. */
const minutesBefore = 5;
/**
 * Seconds after the end of a minute until its metrics are whole: unverified. AWS says only that Lambda sends them once a
 * minute (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics.html).
 */
const metricDelay = 60;
/** Seconds until CodeDeploy has seen an alarm and the alias sends nothing to the new version: unverified. */
const rollbackDelay = 30;
/**
 * Latencies of a good version, in ms, log-logistic, whose tail is heavier than a lognormal one; the first requests start
 * cold. Unverified.
 */
const latency = { median: 10, p99: 50, coldStarts: 4, coldStartMs: 300 };

/** Numbers from 0 to 1, the same ones for a seed (mulberry32). */
const randomNumbers = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** How many of independent events happen, by Knuth's method; of many by the normal distribution, which is then as good. */
const poisson = (mean: number, random: () => number): number => {
  if (mean > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
  }
  const none = Math.exp(-mean);
  let count = 0;
  for (let left = random(); left > none; left *= random()) count += 1;
  return count;
};

/**
 * The p99 of latencies, by nearest rank. Only those from there up are drawn: of uniform numbers the greatest is a root of
 * one, the next the same of what is left below it, and so on (Devroye, Non-Uniform Random Variate Generation, V.3).
 */
const p99Of = (count: number, cold: number, slowness: number, random: () => number): number => {
  const rank = count - Math.ceil(0.99 * count);
  const shape = Math.log(latency.p99 / latency.median) / Math.log(99);
  const drawn = (uniform: number) => slowness * latency.median * (uniform / (1 - uniform)) ** shape;
  const slowest = Array.from({ length: cold }, () => latency.coldStartMs + drawn(random()));
  let uniform = 1;
  for (let left = count - cold; left > 0 && left >= count - cold - rank; left -= 1) {
    uniform *= random() ** (1 / left);
    slowest.push(drawn(uniform));
  }
  return slowest.sort((one, other) => other - one)[rank] ?? Number.NaN;
};

/** What CloudWatch has of a minute, or of the part of it in which the new version gets requests, by metric. */
type Minute = Readonly<Record<string, number>>;

const minuteOf = (
  rate: number,
  { failing, slowness }: Version,
  { seconds, share, coldStarts }: Readonly<Record<'seconds' | 'share' | 'coldStarts', number>>,
  random: () => number,
): Minute => {
  const sent = (mean: number, part: number) => {
    const failures = poisson(mean * part, random);
    return { failures, requests: failures + poisson(mean * (1 - part), random) };
  };
  const fresh = sent(rate * seconds * share, failing);
  const old = sent(rate * seconds * (1 - share), good.failing);
  const cold = Math.min(coldStarts, fresh.requests);
  return {
    [newRequests]: fresh.requests,
    [newFailures]: fresh.failures,
    'AnimalStore Latency p99': p99Of(fresh.requests, cold, slowness, random),
    'AWS/ApiGateway Count SampleCount': fresh.requests + old.requests,
    'AWS/ApiGateway 5XXError Sum': fresh.failures + old.failures,
    // None of these versions crashes.
    'AWS/Lambda Errors Sum': 0,
  };
};
const newRequests = 'AnimalStore Requests Sum';
const newFailures = 'AnimalStore ServerErrors Sum';

/** Whether the period that ends with a minute is over the threshold. A count of 0 is not written. */
const breaches = (alarm: AlarmCondition, minutes: readonly Minute[], last: number): boolean => {
  const length = alarm.period / 60;
  const period = minutes.slice(Math.max(0, last + 1 - length), last + 1);
  const values = alarm.metrics.map(({ Namespace, MetricName, Stat }) => {
    if (Stat === 'p99' && length > 1) throw new Error('A p99 is simulated for one minute only');
    const key = `${Namespace} ${MetricName} ${Stat}`;
    if (period.some((minute) => minute[key] === undefined))
      throw new Error(`No ${key} is simulated`);
    return period.reduce((sum, minute) => sum + (minute[key] ?? 0), 0) || Number.NaN;
  });
  return alarm.breaches(values);
};

/** The index of the minute after which an alarm goes off, or -1. */
const alarmingMinute = (alarm: AlarmCondition, minutes: readonly Minute[]): number => {
  const breaching = minutes.map((_minute, last) => breaches(alarm, minutes, last));
  const length = alarm.period / 60;
  return breaching.findIndex((_breaches, last) => {
    const ends = Array.from({ length: alarm.evaluationPeriods }, (_, back) => last - back * length);
    return ends.filter((end) => breaching[end]).length >= alarm.datapointsToAlarm;
  });
};

/** One release: the second in which the new version is gone, undefined when it is promoted, and how many requests it hurt before. */
const release = (
  alarms: readonly AlarmCondition[],
  rate: number,
  version: Version,
  random: () => number,
) => {
  const firstSeconds = 60 * (1 - random());
  const before = Array(minutesBefore).fill({ seconds: 60, share: 0, coldStarts: 0 });
  const first = { seconds: firstSeconds, share: newShare, coldStarts: latency.coldStarts };
  const later = Array(canarySeconds / 60).fill({ seconds: 60, share: newShare, coldStarts: 0 });
  const minutes = [...before, first, ...later].map((part) => minuteOf(rate, version, part, random));
  const endOf = (index: number) => firstSeconds + 60 * (index - minutesBefore);
  const times = alarms.flatMap((alarm) => {
    // Once a minute, over windows that end with the last whole minute; at which second is drawn.
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    const evaluationDelay = 60 * random();
    const last = alarmingMinute(alarm, minutes);
    return last < 0 ? [] : [endOf(last) + metricDelay + evaluationDelay + rollbackDelay];
  });
  const earliest = Math.min(...times);
  const takenBackAfter = earliest <= canarySeconds ? earliest : undefined;
  const end = takenBackAfter ?? canarySeconds;
  const hurting = version.slowness > 1 ? newRequests : newFailures;
  const hurt = minutes.reduce((sum, minute, index) => {
    const part = Math.max(0, Math.min(1, (end - endOf(index)) / 60 + 1));
    return sum + part * (minute[hurting] ?? 0);
  }, 0);
  return { takenBackAfter, hurt };
};

/** By nearest rank; NaN of no values. */
const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(part * values.length) - 1] ?? Number.NaN;

/**
 * Plays releases of getPet, the same ones in each run, through the alarms of its deployment group. Times are in seconds
 * from the start of the deployment; `hurt` is the median of requests that got 5xx, or waited longer, until then or until
 * the version is promoted.
 */
export const simulate = (template: Template) => {
  const groups = template.findResources('AWS::CodeDeploy::DeploymentGroup');
  const alarms = alarmsOf(template);
  const [, group] = Object.entries(groups).find(([id]) => id.includes('getpet')) ?? [];
  const taking: { Name: { Ref: string } }[] = group?.['Properties'].AlarmConfiguration.Alarms ?? [];
  const conditions = taking.flatMap(({ Name }) => alarms.get(Name.Ref) ?? []);
  return versions.map((version, row) => ({
    version,
    byRate: rates.map((rate, column) => {
      const random = randomNumbers(1_000 * row + column);
      const results = Array.from({ length: releases }, () =>
        release(conditions, rate, version, random),
      );
      const times = results.flatMap(({ takenBackAfter }) => takenBackAfter ?? []);
      const hurt = results.map((result) => result.hurt);
      return {
        rate,
        takenBack: times.length,
        medianSeconds: percentile(times, 0.5),
        longestSeconds: percentile(times, 1),
        hurt: percentile(hurt, 0.5),
      };
    }),
  }));
};

/** The simulation as infra/README.md shows it. */
export const tableOf = (results: ReturnType<typeof simulate>): string => {
  const minutes = (seconds: number) => (seconds / 60).toFixed(1);
  const rows = results.map(({ version, byRate }) => [
    version.name,
    ...byRate.map(({ takenBack, medianSeconds, longestSeconds, hurt }) => {
      const after = ` after ${minutes(medianSeconds)} (${minutes(longestSeconds)}) min`;
      return `${takenBack}${takenBack === 0 ? '' : after}, ${Math.round(hurt)} hurt`;
    }),
  ]);
  const head = ['new version', ...rates.map((rate) => `${rate}/s`)];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
};

if (import.meta.main) {
  const template = await withAssembly((assembly) => readTemplate(assembly, stackName(prod)));
  console.log(tableOf(simulate(Template.fromJSON(template))));
}
