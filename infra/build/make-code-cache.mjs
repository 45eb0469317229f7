import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

/**
 * Initialises a function in a process of its own, as Lambda does, lets it handle a request if there is one,
 * and writes V8's cache of what it has compiled by then:
 * `node make-code-cache.mjs <entry module> <path of the bundle on Lambda> <cache> <event as JSON, or null>`.
 */
const [, , entryModule, filename, cache, event] = process.argv;

let script;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The path is part of the cache: with that on Lambda its bytes are the same wherever it is
    // made. An earlier cache would lead to other bytes too.
    super(source, { ...options, filename, cachedData: undefined });
    script = this;
  }
};
const request = JSON.parse(event);
const context = { awsRequestId: 'none', getRemainingTimeInMillis: () => 10_000 };
try {
  const { handler } = await import(pathToFileURL(entryModule));
  const { statusCode } = request ? await handler(request, context) : {};
  if (statusCode >= 400) throw new Error(`its example gets ${statusCode}`);
} catch (error) {
  console.error(`${error}`);
  process.exit(1);
}
writeFileSync(cache, script.createCachedData());
// The connection to DynamoDB would keep the process.
process.exit();
