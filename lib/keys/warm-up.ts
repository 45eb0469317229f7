import { newRequestRecord } from '../telemetry/request-record.ts';
import { readApiKey } from './find-api-key.ts';

/** How long Lambda's INIT phase may wait for DynamoDB, in ms. */
const warmUpMs = 1_000;

/**
 * For Lambda's INIT phase: connects to DynamoDB, signs, and reads a missing key (0.5 RCU), so that the first
 * request is faster. Ignores failures: that request tries again.
 */
export const warmUp = async (): Promise<void> => {
  // No client waits for it, so no line has its record.
  const context = { signal: AbortSignal.timeout(warmUpMs), record: newRequestRecord() };
  await readApiKey('no key', context).catch(() => {});
};
