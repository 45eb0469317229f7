import { timingSafeEqual } from 'node:crypto';
import type { CallContext } from '../aws/call-dynamodb.ts';
import { environment } from '../environment.ts';
import { hashOf, isIntact, keyIdOf } from './api-key.ts';
import type { ApiKeyRecord } from './api-key-record.ts';
import { findApiKey, rememberAsProven, rememberedApiKey } from './find-api-key.ts';

const prefix = environment('API_KEY_PREFIX');

/**
 * Returns the record of a valid API key, or `undefined` for any other text. Throws the SDK's error if
 * it can't look up the key.
 */
export const authenticate = async (
  apiKey: string,
  context: CallContext,
): Promise<ApiKeyRecord | undefined> => {
  const keyId = keyIdOf(apiKey, prefix);
  if (!keyId) return undefined;
  // The checksum rejects a mistyped key without a read of the table. A remembered key needs no check of its
  // checksum, because its hash is compared.
  const record =
    rememberedApiKey(keyId) ?? (isIntact(apiKey) ? await findApiKey(keyId, context) : undefined);
  const isValid = record && timingSafeEqual(record.hash, hashOf(apiKey)) && isInForce(record);
  if (!isValid) return undefined;
  rememberAsProven(keyId);
  return record;
};

/** Tells whether a key is valid now. A time that can't be read counts as past, so its key is refused. */
const isInForce = ({ expiresAt, revokedAt }: ApiKeyRecord): boolean =>
  isAhead(expiresAt) && isAhead(revokedAt);

const isAhead = (end: string | undefined) => end === undefined || Date.parse(end) > Date.now();
