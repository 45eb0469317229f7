import { spawnSync } from 'node:child_process';
import { messageOf } from '../shared/terminal.ts';

/**
 * Returns the environment of a git that reads the repository of its folder, without the variables by which
 * an enclosing git, such as one that runs a hook, names its own. Those of configuration stay, because they
 * may say which folders are safe. See "DESCRIPTION" in https://git-scm.com/docs/githooks.
 */
const gitEnvironment = (): NodeJS.ProcessEnv => {
  const words = ['rev-parse', '--local-env-vars'];
  const { stdout } = spawnSync('git', words, { encoding: 'utf8' });
  const env = { ...process.env };
  for (const name of stdout?.split('\n') ?? [])
    if (!name.startsWith('GIT_CONFIG')) delete env[name];
  return env;
};

const run = (cwd: string, words: readonly string[]) =>
  spawnSync('git', words, { cwd, env: gitEnvironment(), encoding: 'utf8' });

/** Returns what git prints. Throws git's own words, in one line, if it fails. */
const git = (directory: string, ...words: readonly string[]): string => {
  const { error, status, stdout, stderr } = run(directory, words);
  if (status === 0) return stdout.trim();
  throw new Error(error?.message ?? stderr.trim().replaceAll(/\s+/g, ' '));
};

/** What follows the commit in the name of a deployment that has other files than the commit. */
const dirty = '-dirty';

/** Throws git's own words if it can't tell the commit. */
const readCommit = (directory: string): string => {
  const commit = git(directory, 'rev-parse', 'HEAD');
  // The bundles have new files too, which git does not list with `status.showUntrackedFiles=no`.
  const changes = git(directory, 'status', '--porcelain', '--untracked-files=normal');
  return changes === '' ? commit : `${commit}${dirty}`;
};

/**
 * Returns the commit that is checked out in a folder, with a mark if files differ from it or are not in it,
 * or `unknown` if git can't tell. If the files must be committed, throws in both cases.
 */
export const checkedOutCommit = (directory: string, mustBeCommitted: boolean): string => {
  try {
    const commit = readCommit(directory);
    if (!mustBeCommitted || !commit.endsWith(dirty)) return commit;
  } catch (error) {
    if (!mustBeCommitted) return 'unknown';
    throw new Error(
      `A permanent stage names the commit that it has, and git can't tell it: ${messageOf(error)}`,
    );
  }
  throw new Error(
    'A permanent stage names the commit that it has, and files here differ from it: commit or stash them first. See git status.',
  );
};

/**
 * Throws if the commit that is checked out lacks a commit that a stack has, such as a hotfix, or if this
 * clone does not have the history that tells.
 */
export const refuseToTakeBack = (directory: string, deployed: string, stack: string): void => {
  if (deployed === 'unknown') return;
  const { status, stderr } = run(directory, [
    'merge-base',
    '--is-ancestor',
    deployed.replace(dirty, ''),
    'HEAD',
  ]);
  if (status === 0) return;
  const has = `${stack} has the commit ${deployed}`;
  if (git(directory, 'rev-parse', '--is-shallow-repository') === 'true')
    throw new Error(`${has}, and this clone lacks the history up to it: git fetch --unshallow`);
  if (status !== 1)
    throw new Error(
      `${has}, which this clone does not have: git fetch, or push it from where it was deployed. git says: ${stderr.trim()}`,
    );
  throw new Error(
    `${has}, which this would take back: merge that commit first, or add --revert to go back.`,
  );
};
