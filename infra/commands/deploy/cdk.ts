import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { sessionVariables } from '../aws-config.ts';

/** Runs a command of the CDK and shows its output. Throws when it fails. */
export const cdk = async (...words: readonly string[]): Promise<void> => {
  const env = { ...process.env, ...(await sessionVariables()), CDK_DISABLE_CLI_TELEMETRY: 'true' };
  // Not `execFileSync`, during which this process would not notice Ctrl-C.
  const child = spawn('cdk', words, { stdio: 'inherit', env });
  const [exitCode] = await once(child, 'close');
  if (exitCode !== 0) throw new Error(`cdk ${words[0]} failed: see above`);
};

/**
 * Synthesises the stack of a stage, and those beside it, into a new folder, which is removed when this
 * process ends, and returns the folder.
 */
export const synthesise = async (stage: Stage, context: readonly string[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await cdk('synth', stackName(stage), '--quiet', ...context, '--output', folder);
  return folder;
};
