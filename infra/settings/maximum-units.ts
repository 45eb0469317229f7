import { defaultLimit } from '../../lib/contract/list-pets-query.ts';
import { maxNameLength } from '../../lib/contract/pet.ts';
import { methodsOf, type OperationName } from '../../lib/contract/routes.ts';
import type { Call } from '../../lib/operations/operation-details.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import type { Stage } from './stages.ts';
import { tables } from './tables.ts';
import { throttleOf } from './throttle-of.ts';

/**
 * The request units per second, read or write, that DynamoDB allows a table by default.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode-max-throughput.html
 */
const defaultTableQuota = 40_000;

/** The size of the largest pet in bytes: 4 for each character of its name, and room for all other fields. */
const largestItemBytes = 4 * maxNameLength + 400;

/**
 * The WCU of a write. An index takes two writes for an item whose key changes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
 */
const writeUnits = 2 * Math.ceil(largestItemBytes / 1_024);

/** The RCU of a consistent read of an item. */
const itemUnits = Math.ceil(largestItemBytes / 4_096);

/**
 * The RCU of an eventually consistent page of the default length. Clients that ask for the longest pages of
 * the largest pets can be throttled earlier.
 */
const pageUnits = Math.ceil((defaultLimit * largestItemBytes) / 4_096) / 2;

/**
 * Returns the maximum request units per second that a table of a stage and each of its indexes accept. They suffice
 * for the requests that the throttles let through, and limit the cost of a mistake. Every request reads the keys
 * table, so it has the units of all calls, and another table those of the calls that name it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode-max-throughput.html
 */
export const maximumUnitsOf = (
  stage: Stage,
  tableId: string,
  callsOf: (name: OperationName) => readonly Call[] = (name) => detailsOf(name).calls,
) => {
  const units = { read: 0, write: 0 };
  for (const operation of operations) {
    // API Gateway throttles each method by itself, HEAD too.
    const requests = throttleOf(stage, operation.name).ratePerSecond * methodsOf(operation).length;
    for (const { action, resource } of callsOf(operation.name)) {
      if (tableId !== tables.keys.id && tableId !== resource.split('/')[0]) continue;
      if (/^dynamodb:(Query|Scan)$/.test(action)) units.read += requests * pageUnits;
      else if (/^dynamodb:(Batch)?Get/.test(action)) units.read += requests * itemUnits;
      else if (action.startsWith('dynamodb:')) units.write += requests * writeUnits;
    }
  }
  // With a maximum of 0, no command could read or write the table either.
  return { read: Math.max(1, Math.ceil(units.read)), write: Math.max(1, units.write) };
};

/**
 * Returns a warning if the maximum request units of a stage exceed what DynamoDB allows a table by default. The keys
 * table has the most.
 */
export const quotaWarning = (
  stage: Stage,
  { read, write } = maximumUnitsOf(stage, tables.keys.id),
): string | undefined => {
  const most = Math.max(read, write);
  if (most <= defaultTableQuota) return undefined;
  return `The throttles of ${stage.name} let through ${most} units/s, and DynamoDB allows a table ${defaultTableQuota} by default. Before you deploy, have its quota of throughput for a table raised, which can take days.`;
};
