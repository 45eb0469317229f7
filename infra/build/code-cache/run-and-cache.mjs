import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

/**
 * Runs a function in a process of its own, as Lambda's runtime does, and writes V8's cache of what
 * it has compiled by then: `node run-and-cache.mjs <entry module> <path of the bundle on Lambda>
 * <cache> <event as JSON>…`.
 */
const [, , entryModule, filename, cache, ...events] = process.argv;

let script;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The path is part of the cache: with that on Lambda its bytes are the same wherever it is
    // made. An earlier cache would lead to other bytes too.
    super(source, { ...options, filename, cachedData: undefined });
    script = this;
  }
};

const context = {
  awsRequestId: 'request-id',
  functionName: 'function',
  getRemainingTimeInMillis: () => 9_000,
};

const { handler } = await import(pathToFileURL(entryModule));
for (const event of events) {
  const { statusCode, body } = await handler(JSON.parse(event), context);
  if (statusCode >= 500) throw new Error(`The function responds with ${statusCode}: ${body}`);
}
writeFileSync(cache, script.createCachedData());
// The time-outs of the SDK would keep the process.
process.exit();
