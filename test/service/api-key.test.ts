import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { withChecksum } from './with-checksum.ts';

const prefix = fc.constantFrom('pets_live', 'pets_test');
const apiKey = prefix.map(generateApiKey);

describe('API key', () => {
  it('of today stays valid, and is identified by its id and the SHA-256 of all of it', () => {
    const secret = '0123456789abcdef'.repeat(4);
    expect(
      identifyApiKey(`pets_live_41a34c0985aa8538_${secret}a574b4a1`, 'pets_live'),
      'The keys that clients have must stay valid',
    ).toEqual({
      keyId: '41a34c0985aa8538',
      hash: Buffer.from('34eeec1c3c71a05f0b2ec60d30d33f606bfbb9daa40b6aa57614245a61e7286c', 'hex'),
    });
  });

  it('carries 256 bits that differ from key to key', () => {
    const secrets = Array.from({ length: 100 }, () => generateApiKey('pets_test').slice(27, 91));
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) expect(Buffer.from(secret, 'hex')).toHaveLength(32);
  });

  it('is rejected when it is mistyped, or longer with a valid checksum', () => {
    const character = fc.constantFrom(...'0123456789abcdefABCDEFgz_- \n');
    fc.assert(
      fc.property(apiKey, fc.nat(98), character, (key, at, other) => {
        const head = key.slice(0, at);
        for (const mistyped of [
          head + other + key.slice(at + 1),
          head + other + key.slice(at),
          head + key.slice(at + 1),
          head + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2),
          withChecksum(other + key.slice(0, -8)),
          withChecksum(key.slice(0, -8) + other),
        ]) {
          if (mistyped !== key) expect(identifyApiKey(mistyped, key.slice(0, 9))).toBeUndefined();
        }
      }),
    );
  });
});
