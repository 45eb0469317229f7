import { getItem } from '../aws/get-item.ts';
import { isRetryable } from '../aws/retryable.ts';
import { environment } from '../environment.ts';
import { forgetMetrics } from '../telemetry/telemetry.ts';
import { type ApiKeyRecord, toApiKeyRecord } from './api-key-record.ts';

const keysTable = environment('KEYS_TABLE');

/** How long an answer of the keys table is used, in ms: a revocation takes effect after about this time, plus replica lag. */
const knownFreshMs = 60_000;
const unknownFreshMs = 10_000;
/** How old an answer may get while the keys table can't be read, and the time until the next attempt, in ms. */
const outageToleranceMs = 300_000;
const outageRetryMs = 5_000;
/** How long to wait for a fresh answer when there is an older one, in ms: the operation needs the remaining time. */
const refreshPatienceMs = 1_000;
const maxCachedKeys = 1_000;
/** How long Lambda's INIT phase may wait for DynamoDB, in ms. */
const warmUpMs = 1_000;

interface CachedAnswer {
  readonly record: ApiKeyRecord | undefined;
  readonly readAt: number;
  readonly freshUntil: number;
}

// Separate, so that a flood of made-up keys can't evict the ones in use.
const knownKeys = new Map<string, CachedAnswer>();
const unknownKeys = new Map<string, CachedAnswer>();

/** The record of an API key from memory, as long as it is fresh. */
export const rememberedApiKey = (keyId: string): ApiKeyRecord | undefined => {
  const known = knownKeys.get(keyId);
  return known && Date.now() < known.freshUntil ? known.record : undefined;
};

/**
 * The record of an API key, from memory or the keys table (0.5 RCU); `undefined` if there is none.
 * While the table is out of reach, a key read in the last 5 minutes is still found; for others the SDK's error is thrown.
 */
export const findApiKey = async (
  keyId: string,
  signal: AbortSignal,
): Promise<ApiKeyRecord | undefined> => {
  const cached = knownKeys.get(keyId) ?? unknownKeys.get(keyId);
  const now = Date.now();
  if (cached && now < cached.freshUntil) return cached.record;
  const mayFallBack = cached?.record && now - cached.readAt < outageToleranceMs;
  const patience = mayFallBack
    ? AbortSignal.any([signal, AbortSignal.timeout(refreshPatienceMs)])
    : signal;
  try {
    const record = await readApiKey(keyId, patience);
    remember(keyId, {
      record,
      readAt: now,
      freshUntil: now + (record ? knownFreshMs : unknownFreshMs),
    });
    return record;
  } catch (error) {
    if (!mayFallBack || !isRetryable(error)) throw error;
    const freshUntil = Math.min(now + outageRetryMs, cached.readAt + outageToleranceMs);
    remember(keyId, { ...cached, freshUntil });
    return cached.record;
  }
};

/**
 * For Lambda's INIT phase: connects to DynamoDB, signs, and reads a missing key (0.5 RCU), so that the first request is
 * faster. Ignores failures: that request tries again.
 */
export const warmUp = async (): Promise<void> => {
  await readApiKey('no key', AbortSignal.timeout(warmUpMs)).catch(() => {});
  forgetMetrics();
};

const readApiKey = (keyId: string, signal: AbortSignal) =>
  getItem({ table: keysTable, key: ['keyId', keyId], consistent: false }, toApiKeyRecord, signal);

const remember = (keyId: string, answer: CachedAnswer) => {
  knownKeys.delete(keyId);
  unknownKeys.delete(keyId);
  const cache = answer.record ? knownKeys : unknownKeys;
  for (const oldest of cache.keys()) {
    if (cache.size < maxCachedKeys) break;
    cache.delete(oldest);
  }
  cache.set(keyId, answer);
};
