import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';

/**
 * Initialises a function in a process of its own, as Lambda does, lets it handle a request if there is one,
 * and writes V8's cache of what it has compiled by then:
 * `node make-code-cache.mjs <entry module> <path of the bundle on Lambda> <cache> <event as JSON, or null>`.
 */
const [, , entryModule, filename, cache, event] = process.argv;

let script;
let scriptArguments;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The path is part of the cache: with that on Lambda its bytes are the same wherever it is
    // made. An earlier cache would lead to other bytes too.
    super(source, { ...options, filename, cachedData: undefined });
    script = this;
    scriptArguments = [source, { ...options, filename }];
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
// V8 numbers all functions as they are compiled, with those of Node.js, and the cache has the numbers. Which
// functions of Node.js come first depends on the network. A new thread numbers those of the cache again.
const renumber = () => {
  const { parentPort, workerData } = require('node:worker_threads');
  const { Script } = require('node:vm');
  const [source, options] = workerData;
  parentPort.postMessage(new Script(source, options).createCachedData());
};
const [source, options] = scriptArguments;
const workerData = [source, { ...options, cachedData: script.createCachedData() }];
const worker = new Worker(`(${renumber})()`, { eval: true, workerData });
const [renumbered] = await once(worker, 'message');
writeFileSync(cache, renumbered);
// The connection to DynamoDB would keep the process.
process.exit();
