import type { CallContext } from '../../lib/aws/call-dynamodb.ts';

/**
 * The context of a call, for contenders that use the service's store but write no line for a request. What a
 * call records is discarded.
 */
export const callContext: CallContext = {
  signal: new AbortController().signal,
  record: { noteCorruptItem: () => {}, recordDynamodbLatency: () => {} },
};
