import type { CallContext } from '../../lib/aws/call-dynamodb.ts';

/**
 * For contenders that use the service's store but write no line for a request: what a
 * call records goes nowhere.
 */
export const callContext: CallContext = {
  signal: new AbortController().signal,
  record: { count: () => {}, noteCorruptItem: () => {}, recordDynamodbLatency: () => {} },
};
