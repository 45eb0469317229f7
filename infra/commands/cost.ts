import { InvalidArgumentError, Option, program } from 'commander';
import { type CostItem, monthlyCost, type Workload } from '../cost/monthly-cost.ts';
import { maxRequests, prices, region } from '../cost/prices.ts';
import { customMetrics, type RequestUsage, requestKinds } from '../cost/request-usage.ts';
import { messageOf } from '../message-of.ts';
import { type Stage, stackName, stages } from '../stages.ts';
import { readTemplate, withAssembly } from '../template/build-stack.ts';

interface Options {
  readonly requests: number;
  readonly mix: Readonly<Record<string, number>>;
  readonly durationMs: Readonly<Record<string, number>>;
  readonly pets: number;
  readonly customMetrics: number;
  readonly stage?: Stage['name'];
  readonly json?: true;
}

const shown = (count: number): string => count.toLocaleString('en');

const kinds = new Map<string, RequestUsage>(Object.entries(requestKinds));

const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const requestCount = (text: string): number => {
  const count = wholeNumber(text);
  if (count <= maxRequests) return count;
  throw new InvalidArgumentError(
    `The prices are for up to ${shown(maxRequests)} requests a month.`,
  );
};

/** Reads `list=70,get=30`. */
const byKind = (text: string): Record<string, number> =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [, kind = '', value] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
      if (kinds.has(kind)) return [kind, Number(value)];
      throw new InvalidArgumentError(
        `It must be like list=70,get=30, with any of ${[...kinds.keys()].join(', ')}.`,
      );
    }),
  );

const percentages = (text: string): Record<string, number> => {
  const mix = byKind(text);
  const total = Object.values(mix).reduce((sum, percent) => sum + percent, 0);
  if (Math.abs(total - 100) < 1e-6) return mix;
  throw new InvalidArgumentError(`The percentages add up to ${total}, not to 100.`);
};

const workloadOf = ({ requests, mix, durationMs, pets, customMetrics }: Options): Workload => ({
  traffic: [...kinds].map(([kind, usage]) => ({
    ...usage,
    durationMs: durationMs[kind] ?? usage.durationMs,
    requests: (requests * (mix[kind] ?? 0)) / 100,
  })),
  pets,
  customMetrics,
});

const cents = (usd: number): number => Math.round(usd * 100) / 100;

const totalOf = (items: readonly CostItem[]) => cents(items.reduce((sum, { usd }) => sum + usd, 0));

/** Fixed items first, the most expensive of each kind first. */
const summaryOf = (unordered: readonly CostItem[]) => {
  const sorted = unordered.toSorted((one, other) => other.usd - one.usd);
  const fixed = sorted.filter(({ isFixed }) => isFixed);
  const variable = sorted.filter(({ isFixed }) => !isFixed);
  const [fixedUsd, variableUsd] = [totalOf(fixed), totalOf(variable)];
  const totalUsd = cents(fixedUsd + variableUsd);
  return { items: [...fixed, ...variable], fixedUsd, variableUsd, totalUsd };
};

const print = (stage: Stage, requests: number, summary: ReturnType<typeof summaryOf>) => {
  const { items, fixedUsd, variableUsd, totalUsd } = summary;
  const rows = items.map(({ name, quantity, price, isFixed, usd }) => [
    name,
    {
      quantity: quantity < 1_000 ? Number(quantity.toPrecision(3)) : Math.round(quantity),
      'unit price ($)': price.usd,
      unit: price.per,
      'a month ($)': cents(usd),
      'grows with requests': !isFixed,
    },
  ]);
  console.table(Object.fromEntries(rows));
  console.log(
    `${stackName(stage)}: $${fixedUsd.toFixed(2)} fixed + $${variableUsd.toFixed(2)} for ${shown(requests)} requests = $${totalUsd.toFixed(2)} a month\n`,
  );
};

const dates = Object.values(prices)
  .map(({ asOf }) => asOf)
  .toSorted();

program
  .name('npm run cost --')
  .description(
    `Computes what a month of each stage costs from its synthesised template, at AWS's list prices of ${region} from ${dates.at(0)} to ${dates.at(-1)}. Free tiers, taxes and support are left out.`,
  )
  .requiredOption('--requests <count>', 'requests a month', requestCount)
  .addOption(
    new Option('--mix <kinds>', 'percentage of each kind of request')
      .argParser(percentages)
      .default({ list: 70, get: 20, create: 10 }, 'list=70,get=20,create=10'),
  )
  .addOption(
    new Option('--duration-ms <kinds>', 'billed duration of kinds of requests, in ms, on average')
      .argParser(byKind)
      .default({}, [...kinds].map(([kind, { durationMs }]) => `${kind}=${durationMs}`).join()),
  )
  .option('--pets <count>', 'stored pets', wholeNumber, 100_000)
  .option('--custom-metrics <n>', 'metrics that the functions write', wholeNumber, customMetrics)
  .addOption(new Option('--stage <stage>', 'only this stage').choices(Object.keys(stages)))
  .option('--json', 'print JSON')
  .action(async (options: Options) => {
    const workload = workloadOf(options);
    const chosen = options.stage === undefined ? Object.values(stages) : [stages[options.stage]];
    const costs: Record<string, ReturnType<typeof summaryOf>> = {};
    await withAssembly(async (assembly) => {
      for (const stage of chosen) {
        const template = await readTemplate(assembly, stackName(stage));
        const summary = summaryOf(monthlyCost(template, workload));
        costs[stage.name] = summary;
        if (!options.json) print(stage, options.requests, summary);
      }
    });
    if (options.json) console.log(JSON.stringify({ region, workload, stages: costs }));
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
}
