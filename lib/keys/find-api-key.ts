import type { CallContext } from '../aws/call-dynamodb.ts';
import { getItem } from '../aws/get-item.ts';
import { isRetryable } from '../aws/retryable.ts';
import { environment } from '../environment.ts';
import { type ApiKeyRecord, toApiKeyRecord } from './api-key-record.ts';

const keysTable = environment('KEYS_TABLE');

/**
 * How long an answer of the keys table is used, in ms: a revocation takes effect after about
 * this time, plus replica lag.
 */
const knownFreshMs = 60_000;
const unknownFreshMs = 10_000;
/**
 * How old an answer may get while the keys table can't be read, and the time until the next attempt, in ms.
 */
const outageToleranceMs = 300_000;
const outageRetryMs = 5_000;
/**
 * How long to wait for a fresh answer when there is an older one, in ms: the operation
 * needs the remaining time.
 */
const refreshPatienceMs = 1_000;
const maxCachedKeys = 1_000;

interface CachedAnswer {
  readonly record: ApiKeyRecord | undefined;
  readonly readAt: number;
  readonly freshUntil: number;
}

// Key ids are public. Only a client with the secrets of 1,000 other keys can evict a proven key.
const provenKeys = new Map<string, CachedAnswer>();
/** What was read for keys that don't exist, or of which no right secret came. */
const unprovenKeys = new Map<string, CachedAnswer>();

/** The record of a proven API key from memory, as long as it is fresh. */
export const rememberedApiKey = (keyId: string): ApiKeyRecord | undefined => {
  const proven = provenKeys.get(keyId);
  return proven && isFresh(proven) ? proven.record : undefined;
};

/** Marks the API key of a record that was found as proven: a request had its secret, and it is in force. */
export const rememberAsProven = (keyId: string): void => {
  const answer = unprovenKeys.get(keyId);
  if (!answer) return;
  unprovenKeys.delete(keyId);
  remember(provenKeys, keyId, answer);
};

/**
 * The record of an API key, from memory or the keys table (0.5 RCU); `undefined` if there is
 * none. While the table is out of reach, a key read in the last 5 minutes is still found; for
 * others the SDK's error is thrown.
 */
export const findApiKey = async (
  keyId: string,
  context: CallContext,
): Promise<ApiKeyRecord | undefined> => {
  const cached = provenKeys.get(keyId) ?? unprovenKeys.get(keyId);
  if (cached && isFresh(cached)) return cached.record;
  const keys = provenKeys.has(keyId) ? provenKeys : unprovenKeys;
  const now = Date.now();
  const mayFallBack = cached?.record && isBetween(cached.readAt, cached.readAt + outageToleranceMs);
  const signal = mayFallBack
    ? AbortSignal.any([context.signal, AbortSignal.timeout(refreshPatienceMs)])
    : context.signal;
  try {
    const record = await readApiKey(keyId, { signal, record: context.record });
    const freshUntil = now + (record ? knownFreshMs : unknownFreshMs);
    provenKeys.delete(keyId);
    remember(record ? keys : unprovenKeys, keyId, { record, readAt: now, freshUntil });
    return record;
  } catch (error) {
    if (!mayFallBack || !isRetryable(error)) throw error;
    const freshUntil = Math.min(now + outageRetryMs, cached.readAt + outageToleranceMs);
    remember(keys, keyId, { ...cached, freshUntil });
    return cached.record;
  }
};

/** Reads the record of an API key from the keys table (0.5 RCU). Throws the SDK's errors. */
export const readApiKey = (
  keyId: string,
  context: CallContext,
): Promise<ApiKeyRecord | undefined> =>
  getItem({ table: keysTable, key: ['keyId', keyId], consistent: false }, toApiKeyRecord, context);

const isFresh = ({ readAt, freshUntil }: CachedAnswer) => isBetween(readAt, freshUntil);

/** Whether it is now from `start` to `end`. The clock may have been set back to before `start`. */
const isBetween = (start: number, end: number) => start <= Date.now() && Date.now() < end;

const remember = (keys: Map<string, CachedAnswer>, keyId: string, answer: CachedAnswer) => {
  keys.delete(keyId);
  for (const oldest of keys.keys()) {
    if (keys.size < maxCachedKeys) break;
    keys.delete(oldest);
  }
  keys.set(keyId, answer);
};
