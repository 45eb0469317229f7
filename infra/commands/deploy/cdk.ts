import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { execWrapper } from '../../settings/names.ts';
import { withCleanup } from '../shared/run-program.ts';

/** Runs a command of the CDK in a region, and shows its output. Throws when it fails. It ends at Ctrl-C. */
export const cdk = async (region: string, words: readonly string[]): Promise<void> => {
  const env = {
    ...process.env,
    // The CDK also looks for a region where the SDK does not.
    AWS_REGION: region,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  };
  // Not `execFileSync`, during which this process would not notice Ctrl-C.
  const child = spawn('cdk', words, { stdio: 'inherit', env });
  const end = once(child, 'close');
  const stop = async () => {
    child.kill('SIGINT');
    await end;
  };
  const [exitCode] = await withCleanup(stop, () => end);
  if (exitCode !== 0) throw new Error(`cdk ${words[0]} failed: see above`);
};

/**
 * Lets everybody execute the script in the folder of each function with which Lambda starts it. An artifact
 * of GitHub loses the modes of its files, the CDK packs files with their modes, and Lambda could not start a
 * function whose script is no executable.
 */
export const makeWrappersExecutable = async (assembly: string): Promise<void> => {
  for await (const file of glob(join(assembly, 'asset.*', execWrapper))) await chmod(file, 0o755);
};
