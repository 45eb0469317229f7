import { basename, dirname } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Modules that no function ever calls: they are for other services, other machines than Lambda and other ways
 * to use the libraries. Each comment says how many million instructions a module would add to the 338 of a
 * cold getPet. One that adds less than 0.5 % is bundled.
 */
const leftOut = [
  // A function's credentials are in its environment (`fromEnv` in lib/aws/dynamodb.ts): 58.
  '@aws-sdk/credential-provider-node/dist-es/index.js',
  // DynamoDB's table operations have no event streams: 23.
  '@smithy/core/dist-es/submodules/event-streams/index.js',
  // The endpoint is set in lib/aws/dynamodb.ts: 3.5 and 2.8.
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
  '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js',
];

/** Uses the global `crypto`, which loads all of Web Crypto: 7 million. */
const replacedUuid = '@smithy/core/dist-es/submodules/serde/uuid/v4.js';
const replacement =
  "import { randomUUID } from 'node:crypto'; export const bindV4 = () => randomUUID;";

/**
 * Replaces the modules that functions never call. The SDK can construct their exports, as it does when it
 * loads; calling one throws. The build fails when nothing imports such a module any more.
 */
export const leaveOutModules: Plugin = {
  name: 'leave-out-modules',
  setup: ({ onLoad, onEnd }) => {
    const missing = new Set([...leftOut, replacedUuid]);
    for (const path of [...missing]) {
      onLoad({ filter: new RegExp(`/node_modules/${RegExp.escape(path)}$`) }, async (file) => {
        missing.delete(path);
        const contents = path === replacedUuid ? replacement : await stubOf(file.path);
        return { contents, resolveDir: dirname(file.path) };
      });
    }
    onEnd(() => ({
      errors: [...missing].map((path) => ({ text: `Nothing imports ${path} any more.` })),
    }));
  },
};

/** A module with the exports of another, none of which can be called. */
const stubOf = async (file: string): Promise<string> => {
  const { metafile } = await build({
    entryPoints: [file],
    format: 'esm',
    metafile: true,
    outdir: dirname(file),
    write: false,
  });
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
  const message = JSON.stringify(`The bundle leaves out ${basename(file)}`);
  return `function leftOut() { if (!new.target) throw new Error(${message}); }
export { ${names.map((name) => `leftOut as ${name}`).join(', ')} };`;
};
