import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

/**
 * Initialises a function in a process of its own, as Lambda does, and writes V8's cache of what it has
 * compiled by then: `node make-code-cache.mjs <entry module> <path of the bundle on Lambda> <cache>`.
 */
const [, , entryModule, filename, cache] = process.argv;

let script;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The path is part of the cache: with that on Lambda its bytes are the same wherever it is
    // made. An earlier cache would lead to other bytes too.
    super(source, { ...options, filename, cachedData: undefined });
    script = this;
  }
};
await import(pathToFileURL(entryModule));
writeFileSync(cache, script.createCachedData());
// The connection to DynamoDB would keep the process.
process.exit();
