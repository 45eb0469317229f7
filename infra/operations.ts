import { type Operation, operations } from '../lib/contract/operations.ts';
import type { OperationName } from '../lib/contract/routes.ts';
import { statusIndex } from '../lib/pets/status-index.ts';

/** A call of DynamoDB that a function makes, and the table or the index that it goes to. */
export interface DynamodbCall {
  readonly action: 'GetItem' | 'PutItem' | 'Query';
  readonly target: 'pets table' | 'keys table' | typeof statusIndex;
}

/** What the infrastructure needs to know of an operation besides its definition. */
export interface OperationDetails {
  /** All calls that the function may make, besides finding the API key. */
  readonly dynamodbCalls: readonly DynamodbCall[];
  /**
   * The latency that rolls a new version back, in ms: 2.5 times the p99 of a good version. The p99 values on
   * AWS are unverified: take them from `Latency` of the live version over a week, and correct these limits.
   */
  readonly latencyLimitMs: number;
}

/** The details of each operation. No function imports them. */
export const operationDetails: Readonly<Record<OperationName, OperationDetails>> = {
  listPets: {
    dynamodbCalls: [{ action: 'Query', target: statusIndex }],
    latencyLimitMs: 200,
  },
  createPet: {
    dynamodbCalls: [{ action: 'PutItem', target: 'pets table' }],
    latencyLimitMs: 125,
  },
  getPet: {
    dynamodbCalls: [{ action: 'GetItem', target: 'pets table' }],
    latencyLimitMs: 125,
  },
};

/** Finds the API key of a request, in every operation. */
const findApiKey: DynamodbCall = { action: 'GetItem', target: 'keys table' };

/** All calls that the function of an operation may make. */
export const dynamodbCallsOf = ({ name }: Operation): readonly DynamodbCall[] => [
  findApiKey,
  ...operationDetails[name].dynamodbCalls,
];

/** Makes a value for each operation, by name. */
export const byOperation = <Value>(
  make: (operation: Operation) => Value,
): Readonly<Record<OperationName, Value>> => {
  const values: Partial<Record<OperationName, Value>> = {};
  for (const operation of operations) values[operation.name] = make(operation);
  if (hasEach(values)) return values;
  throw new Error('The list of operations lacks one');
};

const hasEach = <Value>(
  values: Partial<Record<OperationName, Value>>,
): values is Record<OperationName, Value> =>
  Object.keys(operationDetails).every((name) => name in values);
