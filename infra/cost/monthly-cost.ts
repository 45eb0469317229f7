import * as z from 'zod/mini';
import type { Template } from '../template/template.ts';
import { type Price, prices } from './prices.ts';
import { fixed, freeTypes, pricedTypes, type Usage, type Workload } from './resource-usage.ts';

/** One line of a month's bill. */
export interface CostItem {
  readonly name: string;
  readonly quantity: number;
  readonly price: Price;
  /** Whether it is owed for any traffic. */
  readonly isFixed: boolean;
  readonly usd: number;
}

/**
 * What the resources of a stack cost in a month, each item once. Throws, and names it, when a resource has a type or a
 * property whose price is not known, or when a function of the traffic is missing.
 */
export const monthlyCost = (template: Template, workload: Workload): CostItem[] => {
  const resources = Object.entries(template.Resources);
  requireKnownTypes(resources);
  requireFunctions(resources, workload);
  const usages = resources.flatMap(([id, { Type, Properties }]) => {
    try {
      return pricedTypes.get(Type)?.(Properties, { template, workload }) ?? [];
    } catch (error) {
      throw new Error(`No price is known for ${Type} (${id}) as it is: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  });
  usages.push(fixed('Custom metrics', 'customMetric', workload.customMetrics));
  return itemsOf(usages);
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof z.core.$ZodError)) return error instanceof Error ? error.message : '';
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
};

type Resources = readonly (readonly [id: string, Template['Resources'][string]])[];

const requireKnownTypes = (resources: Resources): void => {
  const unknown = resources.filter(
    ([, { Type }]) => !freeTypes.has(Type) && !pricedTypes.has(Type),
  );
  if (unknown.length === 0) return;
  const named = unknown.map(([id, { Type }]) => `${Type} (${id})`).join(', ');
  throw new Error(`No price is known for ${named}: add it to infra/cost/resource-usage.ts.`);
};

const requireFunctions = (resources: Resources, { traffic }: Workload): void => {
  const handlers = new Set(resources.map(([, { Properties }]) => Properties['Handler']));
  for (const { functionName } of traffic) {
    if (handlers.has(`${functionName}.handler`)) continue;
    throw new Error(`The stack has no function ${functionName}: fix infra/cost/request-usage.ts.`);
  }
};

const itemsOf = (usages: readonly Usage[]): CostItem[] => {
  const items = new Map<string, CostItem>();
  for (const { name, isFixed, ...usage } of usages) {
    const quantity = (items.get(name)?.quantity ?? 0) + usage.quantity;
    const price: Price = prices[usage.price];
    const usd = (quantity / price.units) * price.usd;
    items.set(name, { name, quantity, price, isFixed, usd });
  }
  return [...items.values()];
};
