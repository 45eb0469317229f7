import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The file of V8's code cache for a bundle, which may be absent. It has the SHA-256 of the bundle
 * in its name, because V8 compares only the length of the source: with the cache of another program
 * of that length, it runs the other program.
 */
export const codeCacheFile = (name: string, bundle: string): string =>
  `${name}.${createHash('sha256').update(bundle).digest('hex')}.cache`;

const loadBundle = readFileSync(join(import.meta.dirname, 'load-bundle.mjs'), 'utf8');

/** Returns the source of `<name>.mjs`, which Lambda loads, and which loads the bundle beside it. */
export const entryModule = (name: string, bundle: string): string =>
  loadBundle
    .replace('__BUNDLE__', `${name}.cjs`)
    .replace('__CODE_CACHE__', codeCacheFile(name, bundle));
