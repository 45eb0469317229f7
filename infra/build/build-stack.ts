import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { projectDirectory } from '../project-directory.ts';
import { parseTemplate, type Template } from './template.ts';

/** Bundles the functions from the sources as they are now. Throws an error of one line when they can't be built. */
export const buildBundles = async (signal: AbortSignal): Promise<void> => {
  const script = "await (await import('./infra/build/bundle-functions.ts')).bundleFunctions()";
  await run(['--input-type=module', '--eval', script], {}, signal);
};

export interface SynthesisOptions {
  readonly signal?: AbortSignal;
  /** Values of the CDK's context; those that are `undefined` are not set. */
  readonly context?: Readonly<Record<string, string | undefined>>;
  /** The folder of the stacks, which is kept; a temporary one without it. */
  readonly assembly?: string | undefined;
}

/** Synthesises every stack into a folder for `work`. Throws an error of one line when they can't be built. */
export const withAssembly = async <Result>(
  work: (assembly: string) => Promise<Result>,
  { signal, context, assembly }: SynthesisOptions = {},
): Promise<Result> => {
  // A folder of its own, so that neither a second start nor a deployment from cdk.out is in the way.
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-'));
  const CDK_OUTDIR = assembly ?? temporary.path;
  const CDK_CONTEXT_JSON = JSON.stringify({ placeholders: 'allowed', ...context });
  await run(['infra/app.ts'], { CDK_OUTDIR, CDK_CONTEXT_JSON }, signal);
  return await work(CDK_OUTDIR);
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

/** The mistake that a failed build names: of esbuild, of cdk-nag, or of a module, each with its place. */
const mistakeIn = (output: string): string | undefined => {
  const [ofBundler] = /^.*: ERROR: .*$/m.exec(output) ?? [];
  const [, rule, finding] = /^ *ERROR (.*)\n *(.*)$/m.exec(output) ?? [];
  const [place] = /^[\w-]+\/.+\.\w+:\d+$/m.exec(output) ?? [];
  const [error] = /^\w*Error\b.*: .*$/m.exec(output) ?? [];
  if (ofBundler !== undefined) return ofBundler;
  if (finding !== undefined) return `${finding}: ${rule}`;
  return place && error ? `${place}: ${error}` : error;
};
