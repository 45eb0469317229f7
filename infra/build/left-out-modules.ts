import { dirname } from 'node:path';
import { type BuildOptions, type BuildResult, build, type Metafile, type Plugin } from 'esbuild';

/** The module with the default credentials, which each client of the SDK imports. */
const defaultCredentials = '@aws-sdk/credential-provider-node/dist-es/index.js';

/**
 * Modules that the DynamoDB client of lib/aws/dynamodb.ts imports but never calls. They are for other
 * services, for other machines than Lambda, or for other ways to use the libraries. Each comment says how
 * many instructions a module would add to the 284 million of a cold getPet without a code cache. A module
 * that adds less than 1 % is bundled.
 */
const leftOut = [
  // A function's credentials are in its environment (`fromEnv` in lib/aws/dynamodb.ts). This module would add
  // 68 million instructions.
  defaultCredentials,
  // DynamoDB's table operations have no event streams. This module would add 22 million instructions.
  '@smithy/core/dist-es/submodules/event-streams/index.js',
  // The endpoint is set in lib/aws/dynamodb.ts. These modules would add 4.0 and 3.6 million instructions.
  '@aws-sdk/client-dynamodb/dist-es/endpoint/endpointResolver.js',
  '@aws-sdk/endpoint-cache/dist-es/EndpointCache.js',
];

/**
 * Leaves out the modules that the DynamoDB client of lib/aws/dynamodb.ts never calls. The SDK can construct
 * their exports, which it does when it is loaded, but calling one throws. A bundle with another client of the
 * SDK has all modules, because clients share them. A second client of DynamoDB can't be told from the first,
 * so its calls throw. The build fails when nothing imports such a module any more.
 */
export const leaveOutModules: Plugin = {
  name: 'leave-out-modules',
  setup: ({ onLoad, onEnd, initialOptions }) => {
    initialOptions.metafile = true;
    const missing = new Set(leftOut);
    for (const path of leftOut) {
      onLoad({ filter: new RegExp(`/node_modules/${RegExp.escape(path)}$`) }, async (file) => {
        missing.delete(path);
        return { contents: await stubOf(file.path, path) };
      });
    }
    onEnd(async (result) => {
      await replaceBundlesWithOtherClients(result, initialOptions);
      return {
        errors: [...missing].map((path) => ({ text: `Nothing imports ${path} any more.` })),
      };
    });
  },
};

/** Replaces each bundle with another client, and its source map, by one that leaves out nothing. */
const replaceBundlesWithOtherClients = async (
  { metafile, outputFiles }: BuildResult,
  options: BuildOptions,
): Promise<void> => {
  if (!metafile) return;
  const { inputs, outputs } = metafile;
  const entryPoints = Object.values(outputs)
    .filter((bundle) => hasOtherClient(bundle, inputs))
    .flatMap(({ entryPoint = [] }) => entryPoint);
  if (entryPoints.length === 0) return;
  const whole = await build({ ...options, entryPoints, plugins: [] });
  Object.assign(inputs, whole.metafile?.inputs);
  Object.assign(outputs, whole.metafile?.outputs);
  // With `write`, esbuild has written the first bundles already, and the second ones replaced them.
  for (const file of outputFiles ?? []) {
    const replacement = whole.outputFiles?.find(({ path }) => path === file.path);
    if (replacement) file.contents = replacement.contents;
  }
};

/** Tells whether a module that is not DynamoDB's client brings default credentials into a bundle. */
const hasOtherClient = (bundle: Metafile['outputs'][string], inputs: Metafile['inputs']): boolean =>
  Object.keys(bundle.inputs).some(
    (module) =>
      !module.includes('node_modules/@aws-sdk/client-dynamodb/') &&
      inputs[module]?.imports.some(({ path }) =>
        path.endsWith(`node_modules/${defaultCredentials}`),
      ),
  );

/** Returns the source of a module that has the exports of another one. Calling an export throws. */
const stubOf = async (file: string, name: string): Promise<string> => {
  const { metafile } = await build({
    entryPoints: [file],
    format: 'esm',
    metafile: true,
    outdir: dirname(file),
    write: false,
  });
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
  const message = JSON.stringify(
    `The bundle leaves out ${name}. Only the DynamoDB client of lib/aws/dynamodb.ts works without it.`,
  );
  return `function leftOut() { if (!new.target) throw new Error(${message}); }
export { ${names.map((name) => `leftOut as ${name}`).join(', ')} };`;
};
