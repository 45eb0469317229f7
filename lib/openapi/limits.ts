import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const guide = readFileSync(join(import.meta.dirname, 'guides', 'limits.md'), 'utf8');

/**
 * Returns the limits of production that clients can reach, as Markdown. `npm run facts` writes them into the
 * guide. Throws if the guide has none.
 */
export const limitsText = (): string => {
  const [, text] = /<!-- fact: limits -->(.*?)<!-- end -->/s.exec(guide) ?? [];
  if (text === undefined) throw new Error('guides/limits.md has no fact limits');
  return text.trim();
};
