import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDirectory } from './project-directory.ts';

export interface SynthesisOptions {
  /** Values of the CDK's context. Those that are `undefined` are not set. */
  readonly context?: Readonly<Record<string, string | undefined>>;
  /** The folder for the stacks, which is kept. Without it, they are in a temporary folder. */
  readonly assembly?: string | undefined;
}

/**
 * Synthesises stacks into a folder and calls `work` with the folder. Runs a new process, because this one
 * keeps the modules that it has loaded. Throws an error with what the CDK prints when the stacks can't be
 * built.
 */
export const withAssembly = async <Result>(
  work: (assembly: string) => Promise<Result>,
  { context, assembly }: SynthesisOptions = {},
): Promise<Result> => {
  // The folder is a new one, so that a second start or a deployment from cdk.out does not interfere.
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-'));
  const folder = assembly ?? temporary.path;
  const env = {
    ...process.env,
    // The CDK's own rules take longer than the rest. `cdk` and a test apply them, and the security checks.
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({ 'security-rules': 'off', ...context }),
  };
  const options = { cwd: projectDirectory, env };
  const synthesis = promisify(execFile)(process.execPath, ['infra/app.ts'], options);
  // It must not go on when this process ends, for example by Ctrl-C.
  const kill = () => synthesis.child.kill();
  process.once('exit', kill);
  try {
    await synthesis;
  } catch (error) {
    // The CDK names the place.
    const output = error instanceof Error && 'stderr' in error ? error.stderr : '';
    throw new Error(`infra/app.ts failed:\n${output || error}`, { cause: error });
  } finally {
    process.off('exit', kill);
  }
  return await work(folder);
};
