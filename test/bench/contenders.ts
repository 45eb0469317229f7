import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import {
  bundleDirectory,
  bundleFunctions,
  bundleOptions,
} from '../../infra/lambda/bundle-functions.ts';
import type { RequestName } from './requests.ts';

/** Something that answers the service's requests, by the files that stand for it. */
export interface Contender {
  /** What Lambda loads for a request. */
  readonly moduleFor: (request: RequestName) => string;
  /** Its code, bundled. */
  readonly codeFor: (request: RequestName) => string;
  /** Its code with a DynamoDB that costs nothing. */
  readonly alone: (request: RequestName) => string;
}

const functionNames: Readonly<Record<RequestName, string>> = {
  getPet: 'get-pet',
  createPet: 'create-pet',
  listPets: 'list-pets',
  listPetsOf100: 'list-pets',
};

/** In the order in which they are shown. */
export const contenderNames = [
  'empty',
  'bare',
  'sdkCall',
  'service',
  'notWarmedUp',
  'ordinary',
  'hono',
  'powertools',
  'express',
  'fastify',
] as const;
export type ContenderName = (typeof contenderNames)[number];

/** Builds the service and everything that it is compared with, into a directory. */
export const buildContenders = async (outdir: string): Promise<Contenders> => {
  await bundleFunctions();
  const here = import.meta.dirname;
  const others = ['bare', 'empty', 'sdk-call', 'peers/*'].map((name) => join(here, `${name}.ts`));
  // The functions are built along, for a build without them would miss modules that are to be left out.
  const entryPoints = ['functions/*.ts', ...others];
  const options = { ...bundleOptions, entryPoints, entryNames: '[name]' };
  const withPlugins = (plugins: readonly Plugin[]) => [...bundleOptions.plugins, ...plugins];
  const alone = join(outdir, 'alone');
  await build({ ...options, outdir, plugins: withPlugins([withoutMetrics]) });
  await build({
    ...options,
    outdir: alone,
    plugins: withPlugins([dynamodbInMemory, withoutMetrics]),
  });
  await build({
    ...options,
    entryPoints: ['functions/*.ts'],
    outdir: alone,
    plugins: withPlugins([dynamodbInMemory]),
  });
  // As esbuild builds when it is told nothing but the platform.
  const { absWorkingDir, platform, outExtension } = bundleOptions;
  await build({
    ...{ absWorkingDir, platform, outExtension, bundle: true, minify: true },
    entryPoints: ['functions/*.ts'],
    outdir: join(outdir, 'ordinary'),
  });

  const inDirectory = (directory: string) => (request: RequestName) =>
    join(outdir, directory, `${functionNames[request]}.cjs`);
  const deployed = (extension: string) => (request: RequestName) =>
    join(bundleDirectory(functionNames[request]), `${functionNames[request]}.${extension}`);
  const service = { codeFor: deployed('cjs'), alone: inDirectory('alone') };
  const other = (file: string): Contender => {
    const code = () => join(outdir, `${file}.cjs`);
    return {
      moduleFor: code,
      codeFor: code,
      alone: () => join(outdir, 'alone', `${file}.cjs`),
    };
  };
  return {
    empty: other('empty'),
    bare: other('bare'),
    sdkCall: other('sdk-call'),
    service: { ...service, moduleFor: deployed('mjs') },
    notWarmedUp: { ...service, moduleFor: deployed('cjs') },
    ordinary: {
      moduleFor: inDirectory('ordinary'),
      codeFor: inDirectory('ordinary'),
      alone: inDirectory('alone'),
    },
    hono: other('hono'),
    powertools: other('powertools'),
    express: other('express'),
    fastify: other('fastify'),
  };
};

export type Contenders = Readonly<Record<ContenderName, Contender>>;

/** Bundles other source text for one module of `lib/`; its imports are relative to this directory. Fails if no bundle has the module. */
const replacing = (name: string, contents: string): Plugin => ({
  name,
  setup: ({ onLoad, onEnd }) => {
    let isReplaced = false;
    onLoad({ filter: new RegExp(`/lib/${RegExp.escape(name)}\\.ts$`) }, () => {
      isReplaced = true;
      return { contents, resolveDir: import.meta.dirname };
    });
    onEnd(() => (isReplaced ? {} : { errors: [{ text: `No bundle has lib/${name}.ts` }] }));
  },
});

const dynamodbInMemory = replacing(
  'aws/dynamodb',
  "export { dynamodb } from './dynamodb-in-memory.ts';",
);

/** For contenders that share the service's store, but write no metrics. */
const withoutMetrics = replacing(
  'aws/metrics',
  `export const count = () => {};
export const noteCorruptItem = () => {};
export const recordDynamodbLatency = () => {};
export const forgetMetrics = () => {};
export const metricsLine = () => ({});
export const writeLine = () => {};`,
);
