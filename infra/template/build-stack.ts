import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { projectDirectory } from '../project-directory.ts';
import { parseTemplate, type Template } from './template.ts';

/** Bundles the functions from the sources as they are now. Throws an error of one line when they can't be built. */
export const buildBundles = async (signal?: AbortSignal): Promise<void> => {
  const script = "await (await import('./infra/lambda/bundle-functions.ts')).bundleFunctions()";
  await run(['--input-type=module', '--eval', script], {}, signal);
};

/** Values of the CDK's context; those that are `undefined` are not set. */
export type Context = Readonly<Record<string, string | undefined>>;

/** Synthesises every stack into a folder. Throws an error of one line when they can't be built. */
export const buildAssembly = (
  assembly: string,
  signal?: AbortSignal,
  context?: Context,
): Promise<void> => {
  const CDK_CONTEXT_JSON = JSON.stringify({ placeholders: 'allowed', ...context });
  return run(['infra/app.ts'], { CDK_OUTDIR: assembly, CDK_CONTEXT_JSON }, signal);
};

/**
 * Synthesises every stack into a folder that is there while `work` runs. Throws an error of one line when they can't be
 * built.
 */
export const withAssembly = async <Result>(
  work: (assembly: string) => Promise<Result>,
  signal?: AbortSignal,
  context?: Context,
): Promise<Result> => {
  // A folder of its own, so that neither a second start nor a deployment from cdk.out is in the way.
  const assembly = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    await buildAssembly(assembly, signal, context);
    return await work(assembly);
  } finally {
    await rm(assembly, { recursive: true, force: true });
  }
};

/** The template of a stack, by its name, from a folder of synthesised stacks. */
export const readTemplate = async (assembly: string, stack: string): Promise<Template> =>
  parseTemplate(await readFile(join(assembly, `${stack}.template.json`), 'utf8'));

/** Runs Node in a process of its own, because this one keeps the modules that it has loaded. */
const run = async (
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  try {
    await promisify(execFile)(process.execPath, command, {
      cwd: projectDirectory,
      env: { ...process.env, ...environment },
      signal,
    });
  } catch (error) {
    signal?.throwIfAborted();
    const output = error instanceof Error && 'stderr' in error ? `${error.stderr}` : '';
    const mistake = mistakeIn(readable(output)) ?? `infra/app.ts failed: ${error}`;
    throw new Error(mistake, { cause: error });
  }
};

/** With paths relative to the project instead of the URLs of modules and whole paths. */
const readable = (output: string): string =>
  output
    .replace(/\bfile:\/\/\/[^\s'")]+/g, (url) => fileURLToPath(url))
    .replaceAll(`${projectDirectory}${sep}`, '');

/** The mistake that a failed build names, with file and line where they are known. */
const mistakeIn = (output: string): string | undefined => {
  const lines = output.split('\n').map((line) => line.trim());
  const fromBundler = lines.find((line) => line.includes(': ERROR: '));
  if (fromBundler !== undefined) return fromBundler;
  const finding = lines.findIndex((line) => line.startsWith('ERROR '));
  if (finding >= 0) return `${lines[finding + 1]}: ${lines[finding]?.replace('ERROR ', '')}`;
  const place = lines.find((line) => /^[\w-]+\/.+\.\w+:\d+$/.test(line));
  const mistake = lines.find((line) => /^\w*Error\b.*: /.test(line));
  return place && mistake ? `${place}: ${mistake}` : mistake;
};
