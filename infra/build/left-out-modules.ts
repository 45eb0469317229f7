import { basename, dirname } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Modules that no function ever calls. They are for other services, for other machines than Lambda, or for
 * other ways to use the libraries. Each comment says how many instructions a module would add to the 283
 * million of a cold getPet without a code cache. A module that adds less than 1 % is bundled.
 */
const leftOut = [
  // A function's credentials are in its environment (`fromEnv` in lib/aws/dynamodb.ts). This module would add
  // 68 million instructions.
  '@aws-sdk/credential-provider-node/dist-es/index.js',
  // DynamoDB's table operations have no event streams. This module would add 22 million instructions.
  '@smithy/core/dist-es/submodules/event-streams/index.js',
  // The endpoint is set in lib/aws/dynamodb.ts. These modules would add 4.0 and 3.6 million instructions.
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
  '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js',
];

/**
 * Replaces the modules that functions never call. The SDK can construct their exports, which it does when it
 * is loaded, but calling one throws. The build fails when nothing imports such a module any more.
 */
export const leaveOutModules: Plugin = {
  name: 'leave-out-modules',
  setup: ({ onLoad, onEnd }) => {
    const missing = new Set(leftOut);
    for (const path of leftOut) {
      onLoad({ filter: new RegExp(`/node_modules/${RegExp.escape(path)}$`) }, async (file) => {
        missing.delete(path);
        return { contents: await stubOf(file.path) };
      });
    }
    onEnd(() => ({
      errors: [...missing].map((path) => ({ text: `Nothing imports ${path} any more.` })),
    }));
  },
};

/** Returns the source of a module that has the exports of another one. Calling an export throws. */
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
