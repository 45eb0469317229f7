import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { requireCode } from '../local/lambda/function-code.ts';
import { type StackDefinition, stackDefinitionOf } from '../local/stack-definition.ts';
import { projectDirectory } from '../project-directory.ts';
import { stackName, staging } from '../stages.ts';
import { parseTemplate, type Template } from './template.ts';

/** The stack that runs locally. */
const localStack = stackName(staging);

/** Bundles the functions from the sources as they are now. Throws an error of one line when they can't be built. */
export const buildBundles = async (signal?: AbortSignal): Promise<void> => {
  const script = "await (await import('./infra/lambda/bundle-functions.ts')).bundleFunctions()";
  await run(['--input-type=module', '--eval', script], {}, signal);
};

/** Bundles the functions and reads the stack. Throws an error of one line when they can't be built, or don't fit. */
export const synthesise = (signal?: AbortSignal): Promise<StackDefinition> =>
  withAssembly(async (assembly) => {
    const template = await readTemplate(assembly, localStack);
    const stack = stackDefinitionOf(template);
    await requireCode(template, stack.functions, assembly, localStack);
    return stack;
  }, signal);

/**
 * Synthesises every stack into a folder that is there while `work` runs. Throws an error of one line when they can't be
 * built.
 */
export const withAssembly = async <Result>(
  work: (assembly: string) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> => {
  // A folder of its own, so that neither a second start nor a deployment from cdk.out is in the way.
  const assembly = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    await run(['infra/app.ts'], { CDK_OUTDIR: assembly }, signal);
    return await work(assembly);
  } finally {
    await rm(assembly, { recursive: true, force: true });
  }
};

/** The template of a stack, by its name, from a folder that `withAssembly` has made. */
export const readTemplate = async (assembly: string, stack: string): Promise<Template> =>
  parseTemplate(await readFile(join(assembly, `${stack}.template.json`), 'utf8'));

/** Runs Node in a process of its own, for this one keeps the modules that it has once loaded. */
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
    throw new Error(mistakeIn(output) ?? `infra/app.ts failed: ${error}`, { cause: error });
  }
};

/** The mistake that a failed build names, with file and line where they are known. */
const mistakeIn = (output: string): string | undefined => {
  const lines = output.split('\n').map((line) => line.trim());
  const fromBundler = lines.find((line) => line.includes(': ERROR: '));
  if (fromBundler !== undefined) return fromBundler;
  const finding = lines.findIndex((line) => line.startsWith('ERROR '));
  if (finding >= 0) return `${lines[finding + 1]}: ${lines[finding]?.replace('ERROR ', '')}`;
  const place = lines.map((line) => /^(?:file:\/\/)?(\/.+:\d+)$/.exec(line)?.[1]).find(Boolean);
  const mistake = lines.find((line) => /^\w*Error\b.*: /.test(line));
  return place && mistake ? `${relative(projectDirectory, place)}: ${mistake}` : mistake;
};
