import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

/*
 * The module that Lambda loads, once `entryModule` in bundle-functions.ts has put the names of the files into
 * it. It is an ES module, because Lambda awaits the initialisation of no other. It runs the bundle as Node.js
 * runs a CommonJS module, but gives V8 the code cache. If there is none, or V8 rejects it, V8 compiles the
 * bundle. The environment variable CODE_CACHE says which.
 */

const directory = import.meta.dirname;
const filename = `${directory}/__BUNDLE__`;
let cachedData;
try {
  cachedData = readFileSync(`${directory}/__CODE_CACHE__.${process.version}.cache`);
} catch {
  // The function runs without it.
}
const bundle = readFileSync(filename, 'utf8');
const script = new Script(
  `(function (exports, require, module, __filename, __dirname) {\n${bundle}\n})`,
  {
    filename,
    // The bundle's first line is the second one of the script.
    lineOffset: -1,
    cachedData,
  },
);
const wasUsed = script.cachedDataRejected === false;
process.env.CODE_CACHE = cachedData ? (wasUsed ? 'hit' : 'rejected') : 'absent';
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(filename), module, filename, directory);
const { handler, initialise } = module.exports;
await initialise?.();

// The build asks the script for its code cache.
export { handler, script };
