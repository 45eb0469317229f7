import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, identifyApiKey } from '../../lib/contract/api-key.ts';
import { withChecksum } from '../support/with-checksum.ts';

const prefix = fc.constantFrom('pets_live', 'pets_test');
const apiKey = prefix.map(generateApiKey);
const hexadecimal = fc.constantFrom(...'0123456789abcdef');

describe('API key', () => {
  it('identifies itself by its id and the SHA-256 of the whole key', () => {
    fc.assert(
      fc.property(prefix, (stagePrefix) => {
        const key = generateApiKey(stagePrefix);
        expect(identifyApiKey(key, stagePrefix)).toEqual({
          keyId: key.slice(10, 26),
          hash: createHash('sha256').update(key).digest(),
        });
      }),
    );
  });

  it('carries 256 bits that differ from key to key', () => {
    const secrets = Array.from({ length: 100 }, () => generateApiKey('pets_test').slice(27, 91));
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) expect(Buffer.from(secret, 'hex')).toHaveLength(32);
  });

  it('identifies nothing when a character is changed, added, missing or swapped with the next', () => {
    const character = fc.constantFrom(...'0123456789abcdefABCDEFgz_- \n');
    fc.assert(
      fc.property(apiKey, fc.nat(98), character, (key, at, other) => {
        const head = key.slice(0, at);
        for (const mistyped of [
          head + other + key.slice(at + 1),
          head + other + key.slice(at),
          head + key.slice(at + 1),
          head + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2),
        ]) {
          if (mistyped !== key) expect(identifyApiKey(mistyped, key.slice(0, 9))).toBeUndefined();
        }
      }),
    );
  });

  it('identifies nothing when there is more before or after it, under a right checksum too', () => {
    fc.assert(
      fc.property(apiKey, fc.string({ minLength: 1, unit: hexadecimal }), (key, more) => {
        for (const longer of [more + key.slice(0, -8), key + more]) {
          expect(identifyApiKey(withChecksum(longer), key.slice(0, 9))).toBeUndefined();
        }
      }),
    );
  });
});
