import { InvalidArgumentError, program } from 'commander';
import { monthlyCost } from '../cost/monthly-cost.ts';
import { maxRequests, prices, region } from '../cost/prices.ts';
import { requestKinds } from '../cost/request-usage.ts';
import { fail } from '../message-of.ts';
import { stackName, stages } from '../stages.ts';
import { readTemplate, withAssembly } from '../template/build-stack.ts';

interface Options {
  readonly requests: number;
  /** Billed duration in ms, by kind of request. */
  readonly durationMs?: Readonly<Record<string, number>>;
}

const shown = (count: number): string => count.toLocaleString('en');

const requestCount = (text: string): number => {
  if (/^\d{1,9}$/.test(text) && Number(text) <= maxRequests) return Number(text);
  throw new InvalidArgumentError(
    `It must be a whole number of up to ${shown(maxRequests)}: the prices change above it.`,
  );
};

/** Reads `list=9,get=6`. */
const durations = (text: string): Record<string, number> =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [, kind = '', ms] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(part) ?? [];
      if (Object.hasOwn(requestKinds, kind)) return [kind, Number(ms)];
      const kinds = Object.keys(requestKinds).join(', ');
      throw new InvalidArgumentError(
        `It must be milliseconds such as list=9,get=6, for any of ${kinds}.`,
      );
    }),
  );

const cents = (usd: number): number => Math.round(usd * 100) / 100;

const totalOf = (items: readonly { readonly usd: number }[]) =>
  cents(items.reduce((sum, { usd }) => sum + usd, 0));

/** Prints the monthly cost of each stage: the total, and the fixed part that does not depend on the number of requests. */
const run = ({ requests, durationMs = {} }: Options) =>
  withAssembly(async (assembly) => {
    for (const stage of Object.values(stages)) {
      const template = await readTemplate(assembly, stackName(stage));
      const costOf = (count: number) =>
        monthlyCost(
          template,
          Object.entries(requestKinds).map(([kind, usage]) => ({
            ...usage,
            durationMs: durationMs[kind] ?? usage.durationMs,
            requests: count * usage.share,
          })),
        );
      const fixed = costOf(0);
      const items = costOf(requests);
      const rows = items.map(({ price, quantity, usd }, index) => [
        price.per,
        {
          quantity: Number(quantity.toPrecision(3)),
          'price ($)': price.usd,
          'a month ($)': cents(usd),
          'fixed part ($)': cents(fixed[index]?.usd ?? 0),
        },
      ]);
      console.table(Object.fromEntries(rows));
      const [fixedUsd, totalUsd] = [totalOf(fixed), totalOf(items)];
      const variableUsd = totalUsd - fixedUsd;
      console.log(
        `${stackName(stage)}: $${fixedUsd.toFixed(2)} fixed + $${variableUsd.toFixed(2)} for ${shown(requests)} requests = $${totalUsd.toFixed(2)} a month\n`,
      );
    }
  });

const dates = Object.values(prices)
  .map(({ asOf }) => asOf)
  .toSorted();
const mix = Object.entries(requestKinds).map(
  ([kind, { share, durationMs }]) => `${share * 100} % ${kind} (${durationMs} ms each)`,
);

program
  .name('npm run cost --')
  .description(
    `Computes the monthly cost of each stage from its CloudFormation template. Uses AWS's list prices in ${region}, read from ${dates.at(0)} to ${dates.at(-1)}. Assumes ${mix.join(', ')}. Leaves out free tiers, taxes and support.`,
  )
  .requiredOption('--requests <count>', 'requests a month', requestCount)
  .option('--duration-ms <kinds>', 'billed durations in ms, such as list=9,get=6', durations)
  .action(run);

await program.parseAsync().catch(fail);
