import { timingSafeEqual } from 'node:crypto';
import { type CallContext, isRetryable } from '../aws/call-dynamodb.ts';
import { getItem, readItem } from '../aws/get-item.ts';
import { environment } from '../environment.ts';
import { instantMs } from '../telemetry/elapsed-ms.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import { type ApiKeyRecord, identifyApiKey, isInForce, toApiKeyRecord } from './api-key.ts';
import { KeyMemory, type ReadKey } from './key-memory.ts';

const prefix = environment('API_KEY_PREFIX');
const keysTable = { name: environment('KEYS_TABLE'), word: 'keys' };

const ownMemory = new KeyMemory();

/**
 * Returns the record of a valid API key, or `undefined` for any other text. Throws the SDK's error if
 * it can't look up the key.
 */
export const authenticate = async (
  apiKey: string,
  context: CallContext,
  memory = ownMemory,
): Promise<ApiKeyRecord | undefined> => {
  const given = identifyApiKey(apiKey, prefix);
  // A mistyped key costs no read of the table.
  if (!given) return undefined;
  const record = await findApiKey(given.keyId, context, memory);
  if (!record || !timingSafeEqual(record.hash, given.hash) || !isInForce(record)) return undefined;
  memory.prove(record.keyId);
  return record;
};

/**
 * How long a result of the keys table is used, in ms. A revocation takes effect after about this time plus
 * the lag of the replicas.
 */
const knownFreshMs = 60_000;
const unknownFreshMs = 10_000;
/** The maximum age of a result while the keys table can't be read, in ms. */
const outageToleranceMs = 300_000;
/** The time until the next attempt to read a table that can't be read, in ms. */
const outageRetryMs = 5_000;
/**
 * How long to wait for a fresh result when there is an older one, in ms. The operation
 * needs the remaining time.
 */
const refreshPatienceMs = 1_000;

/**
 * Returns the record of an API key from memory or from the keys table (0.5 RCU), or `undefined` if there is
 * none. While the table can't be read, a key that was read in the last 5 minutes is still found. For other
 * keys, throws the SDK's error.
 */
const findApiKey = async (
  keyId: string,
  context: CallContext,
  memory: KeyMemory,
): Promise<ApiKeyRecord | undefined> => {
  const cached = memory.get(keyId);
  if (cached && isFresh(cached)) return cached.record;
  const now = Date.now();
  const mayFallBack = cached?.record && isBetween(cached.readAt, cached.readAt + outageToleranceMs);
  const deadline = mayFallBack
    ? Math.min(context.deadline, instantMs() + refreshPatienceMs)
    : context.deadline;
  try {
    const record = await readApiKey(keyId, { deadline, log: context.log });
    const freshUntil = now + (record ? knownFreshMs : unknownFreshMs);
    memory.set(keyId, { record, readAt: now, freshUntil });
    return record;
  } catch (error) {
    if (!mayFallBack || !isRetryable(error)) throw error;
    const freshUntil = Math.min(now + outageRetryMs, cached.readAt + outageToleranceMs);
    memory.set(keyId, { ...cached, freshUntil });
    return cached.record;
  }
};

/**
 * Reads the record of an API key from the keys table (0.5 RCU). Throws the SDK's errors, and an Error for a
 * corrupt item.
 */
const readApiKey = async (
  keyId: string,
  context: CallContext,
): Promise<ApiKeyRecord | undefined> => {
  const address = { table: keysTable, key: ['keyId', keyId], consistent: false } as const;
  const item = await getItem(address, context);
  return item && readItem(item, 'keyId', toApiKeyRecord, context);
};

const isFresh = ({ readAt, freshUntil }: ReadKey) => isBetween(readAt, freshUntil);

/**
 * Tells whether the current time is between `start` and `end`. The clock may have been
 * set back to before `start`.
 */
const isBetween = (start: number, end: number) => start <= Date.now() && Date.now() < end;

/** How long Lambda's INIT phase may wait for DynamoDB, in ms. */
const warmUpMs = 1_000;

/**
 * Prepares a function in Lambda's INIT phase, so that its first request is faster. Connects to
 * DynamoDB, signs a request, and reads a key that does not exist (0.5 RCU). Ignores failures, because
 * the first request tries again.
 */
export const warmUp = async (): Promise<void> => {
  // No client waits for this call, and its log is not written.
  const context = { deadline: instantMs() + warmUpMs, log: new RequestLog() };
  await readApiKey('no key', context).catch(() => {});
};
