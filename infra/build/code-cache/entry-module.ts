import { createHash } from 'node:crypto';

/**
 * The file of V8's code cache for a bundle, which may be absent. It has the SHA-256 of the bundle
 * in its name, because V8 compares only the length of the source: with the cache of another program
 * of that length, it runs the other program.
 */
export const codeCacheFile = (name: string, bundle: string): string =>
  `${name}.${createHash('sha256').update(bundle).digest('hex')}.cache`;

/**
 * The module `<name>.mjs` that Lambda loads. It is an ES module, because Lambda awaits the
 * initialisation of no other. It runs the bundle as Node.js runs a CommonJS module, but gives V8
 * the code cache. If there is none, or V8 rejects it, V8 compiles the bundle. The environment
 * variable CODE_CACHE says which.
 *
 * Lambda starts Node.js with `--expose-gc`. V8 rejects a code cache that was made with other flags, so it
 * would reject the one of Node's own modules too, and compile each of them. The first line sets that flag as
 * it was when Node.js was built. `globalThis.gc` stays.
 * https://github.com/nodejs/node/blob/v24.x/deps/v8/src/snapshot/code-serializer.cc, `SanityCheck`
 */
export const entryModule = (name: string, bundle: string): string => `\
process.getBuiltinModule('node:v8').setFlagsFromString('--no-expose-gc');
const { readFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { Script } = process.getBuiltinModule('node:vm');

const directory = import.meta.dirname;
const filename = \`\${directory}/${name}.cjs\`;
let cachedData;
try {
  cachedData = readFileSync(\`\${directory}/${codeCacheFile(name, bundle)}\`);
} catch {
  // The function runs without it.
}
const script = new Script(
  \`(function (exports, require, module, __filename, __dirname) {\\n\${readFileSync(filename, 'utf8')}\\n})\`,
  {
    filename,
    // The bundle's first line is the second one of the script.
    lineOffset: -1,
    cachedData,
  },
);
process.env.CODE_CACHE = !cachedData ? 'absent' : script.cachedDataRejected === false ? 'hit' : 'rejected';
const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(filename), module, filename, directory);
const { handler, initialise } = module.exports;
await initialise?.();
export { handler };
`;
