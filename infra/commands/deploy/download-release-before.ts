import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../project-directory.ts';

/** Runs a program, shows its errors, and returns its output. Throws when it fails. */
const outputOf = (program: string, ...words: readonly string[]) =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/**
 * Downloads the last release before a run of `release.yml`, and returns the folder with its stacks without a
 * canary. Needs GitHub's CLI, signed in. Throws if there is no earlier release, or GitHub no longer has it.
 */
export const releaseBefore = (run: string): string => {
  const found = outputOf(join(projectDirectory, '.ci/last-release'), run).trim();
  if (found === '') throw new Error(`No release reached prod before the run ${run}.`);
  const [earlier = '', commit] = found.split(' ');
  const folder = join(projectDirectory, '.build', 'releases', earlier);
  rmSync(folder, { recursive: true, force: true });
  try {
    outputOf('gh', 'run', 'download', earlier, '--name', 'release', '--dir', folder);
  } catch (cause) {
    const build = `git switch --detach ${commit} && npm ci, then deploy with --context canary=off`;
    throw new Error(`The artifact of the run ${earlier} is missing. Build it again: ${build}.`, {
      cause,
    });
  }
  console.log(`Going back to ${commit}, which the run ${earlier} released.`);
  return join(folder, 'stacks', 'canary-off');
};
