import { createHash, randomInt } from 'node:crypto';

const idEnd = 27;
const secretEnd = 91;

/**
 * An API key of the same id and under a right checksum, with so many characters of a secret, its own or that of
 * another key, and from there on none.
 */
export const guessedKey = (apiKey: string, characters: number, secretOf = apiKey): string => {
  const end = idEnd + characters;
  const wrong = secretOf.slice(end, secretEnd).replace(/./g, otherDigit);
  const unchecked = apiKey.slice(0, idEnd) + secretOf.slice(idEnd, end) + wrong;
  return withChecksum(unchecked);
};

const otherDigit = (digit: string) =>
  ((Number.parseInt(digit, 16) + randomInt(1, 16)) % 16).toString(16);

/** An API key made by hand, with the checksum that belongs to it. */
export const withChecksum = (unchecked: string) =>
  unchecked + createHash('sha256').update(unchecked).digest('hex').slice(0, 8);
