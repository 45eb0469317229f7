import { execFileSync } from 'node:child_process';

/** Runs a command of the CDK and shows its output. Throws when it fails. */
export const cdk = (...words: readonly string[]): void => {
  const env = { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' };
  execFileSync('cdk', words, { stdio: 'inherit', env });
};
