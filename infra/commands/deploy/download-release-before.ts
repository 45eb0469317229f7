import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../build/project-directory.ts';
import { gh, goodReleaseBefore, type Release } from './releases.ts';

/**
 * Downloads the last good release before a run of `release.yml`, and returns it with the folder of its stacks
 * without a canary. Throws if there is no earlier release, or it could not be downloaded.
 */
export const downloadReleaseBefore = (run: string): Release & { readonly folder: string } => {
  const release = goodReleaseBefore(run);
  if (!release) throw new Error(`No good release reached prod before the run ${run}.`);
  const folder = join(projectDirectory, '.build', 'releases', release.run);
  rmSync(folder, { recursive: true, force: true });
  try {
    gh('run', 'download', release.run, '--name', 'release', '--dir', folder);
  } catch (cause) {
    const build = `git switch --detach ${release.commit} && npm ci, then deploy with --context canary=off`;
    const problem = `The artifact of the run ${release.run} could not be downloaded (see above).`;
    throw new Error(`${problem} If it has expired, build it again: ${build}.`, { cause });
  }
  return { ...release, folder: join(folder, 'stacks', 'canary-off') };
};
