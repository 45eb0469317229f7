import { newRequestRecord } from '../telemetry/request-record.ts';
import { readApiKey } from './find-api-key.ts';

/** How long Lambda's INIT phase may wait for DynamoDB, in ms. */
const warmUpMs = 1_000;

/**
 * Prepares a function in Lambda's INIT phase, so that its first request is faster. Connects to
 * DynamoDB, signs a request, and reads a key that does not exist (0.5 RCU). Ignores failures, because
 * the first request tries again.
 */
export const warmUp = async (): Promise<void> => {
  // No client waits for this call, and no log line has its record.
  const context = { signal: AbortSignal.timeout(warmUpMs), record: newRequestRecord() };
  await readApiKey('no key', context).catch(() => {});
};
