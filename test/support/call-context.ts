import type { CallContext } from '../../lib/aws/call-dynamodb.ts';

/**
 * The context of a call, for code that uses the service's store but writes no line for a request. What a
 * call records is discarded.
 */
export const callContext: CallContext = {
  deadline: Number.POSITIVE_INFINITY,
  log: { addCorruptItem: () => {}, addDynamodbLatency: () => {} },
};
