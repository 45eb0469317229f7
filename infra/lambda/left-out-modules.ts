import { basename, dirname } from 'node:path';
import { build, type Plugin } from 'esbuild';

/**
 * Modules that no function ever calls: they are for other services, other machines than Lambda and other ways to use the
 * libraries. A cold getPet takes 343.0 million instructions; each comment says how many a module would add. Those below
 * 0.5 % are left out only where they would break a bar of the benchmark or a test.
 */
const leftOut = [
  // A function's credentials are in its environment (`fromEnv` in lib/aws/dynamodb.ts): 62 million.
  '@aws-sdk/credential-provider-node/dist-es/index.js',
  // DynamoDB's table operations have no event streams: 24 million.
  '@smithy/core/dist-es/submodules/event-streams/index.js',
  // The endpoint is set in lib/aws/dynamodb.ts: 4.1, 3.8 and 1.4 million. With the last one, the partitions of AWS,
  // getPet would be 1.604 times the bare handler of the benchmark; the bar is 1.6.
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
  '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js',
  '@aws-sdk/core/dist-es/submodules/client/util-endpoints/aws.js',
  // No item holds a timestamp: 1.4 million. It would make `unrouted` 21 KB; the bar is 18 KB.
  '@smithy/core/dist-es/submodules/serde/date-utils.js',
  // A function has no ~/.aws: 0.9 million, and node:fs/promises, which test/infra/bundles.test.ts forbids.
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js',
];

/** Uses the global `crypto`, which loads all of Web Crypto: 7 million. */
const replacedUuid = '@smithy/core/dist-es/submodules/serde/uuid/v4.js';
const replacement =
  "import { randomUUID } from 'node:crypto'; export const bindV4 = () => randomUUID;";

/**
 * Replaces the modules that functions never call. Their exports can be constructed, as the SDK does when it loads, but
 * throw when they are called. The build fails when nothing imports such a module any more.
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
