import { createHash } from 'node:crypto';

/** An API key made by hand, with the checksum that belongs to it. */
export const withChecksum = (unchecked: string) =>
  unchecked + createHash('sha256').update(unchecked).digest('hex').slice(0, 8);
