import { createHash, randomInt } from 'node:crypto';

const idEnd = 27;
const secretEnd = 91;

/** An API key of the same id and with a valid checksum, of which only so many characters of the secret are right. */
export const guessedKey = (apiKey: string, characters: number): string => {
  const end = idEnd + characters;
  return withChecksum(
    apiKey.slice(0, end) + apiKey.slice(end, secretEnd).replace(/./g, otherDigit),
  );
};

const otherDigit = (digit: string) =>
  ((Number.parseInt(digit, 16) + randomInt(1, 16)) % 16).toString(16);

/** An API key made by hand, with the checksum that belongs to it. */
export const withChecksum = (unchecked: string) =>
  unchecked + createHash('sha256').update(unchecked).digest('hex').slice(0, 8);
