import { basename, dirname } from 'node:path';
import type { build as esbuildBuild, Plugin } from 'esbuild';

/** What libraries hold for other services, other machines than Lambda and other ways to use them: no function ever calls it. */
const leftOut = [
  // A function's credentials are in its environment (`fromEnv` in lib/aws/dynamodb.ts).
  '@aws-sdk/credential-provider-node/dist-es/index.js',
  // A function has no ~/.aws; loading node:fs/promises takes milliseconds.
  '@smithy/core/dist-es/submodules/config/shared-ini-file-loader/loadSharedConfigFiles.js',
  '@smithy/core/dist-es/submodules/config/config-resolver/regionConfig/getInstanceMetadataRegion.js',
  // The endpoint is set in lib/aws/dynamodb.ts.
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
  '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js',
  '@aws-sdk/core/dist-es/submodules/client/util-endpoints/aws.js',
  '@smithy/core/dist-es/submodules/endpoints/middleware-endpoint/service-customizations/s3.js',
  // DynamoDB's table operations have neither event streams nor timestamps.
  '@smithy/core/dist-es/submodules/event-streams/index.js',
  '@smithy/signature-v4/dist-es/HeaderFormatter.js',
  '@smithy/core/dist-es/submodules/serde/date-utils.js',
  // Node's own SHA-256 is there, and the retry strategy is set in lib/aws/dynamodb.ts.
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js',
  '@smithy/core/dist-es/submodules/retry/util-retry/AdaptiveRetryStrategy.js',
];

/** What is there for other machines too, in a form that costs less on Lambda. */
const replaced: Readonly<Record<string, string>> = {
  // The global `crypto` loads all of Web Crypto.
  '@smithy/core/dist-es/submodules/serde/uuid/v4.js':
    "import { randomUUID } from 'node:crypto'; export const bindV4 = () => randomUUID;",
};

/**
 * Bundles without the modules that functions never call: what they export can be constructed, as the SDK does when it
 * loads, and throws when it is called. The build fails when nothing imports such a module any more.
 */
export const leaveOutModules: Plugin = {
  name: 'leave-out-modules',
  setup: ({ onStart, onLoad, onEnd, esbuild: { build } }) => {
    const known = [...leftOut, ...Object.keys(replaced)];
    const missing = new Set<string>();
    onStart(() => {
      for (const path of known) missing.add(path);
    });
    for (const path of known) {
      onLoad({ filter: new RegExp(`/node_modules/${RegExp.escape(path)}$`) }, async (file) => {
        missing.delete(path);
        return {
          contents: replaced[path] ?? (await stubOf(file.path, build)),
          resolveDir: dirname(file.path),
        };
      });
    }
    onEnd(() => ({
      errors: [...missing].map((path) => ({ text: `Nothing imports ${path} any more.` })),
    }));
  },
};

/** A module with the exports of another, none of which can be called. */
const stubOf = async (file: string, build: typeof esbuildBuild): Promise<string> => {
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
