import { spawnSync } from 'node:child_process';

const git = (...words: readonly string[]) => spawnSync('git', words, { encoding: 'utf8' });

/** What follows the commit in the name of a deployment that has other files than the commit. */
const dirty = '-dirty';

/**
 * Returns the commit of the project that is checked out, with a mark if files differ from it or are not in
 * it, or `unknown` outside a git repository.
 */
export const checkedOutCommit = (): string => {
  const { status, stdout } = git('rev-parse', 'HEAD');
  if (status !== 0) return 'unknown';
  const changes = git('status', '--porcelain');
  const isClean = changes.status === 0 && changes.stdout === '';
  return `${stdout.trim()}${isClean ? '' : dirty}`;
};

/** Whether a commit is marked as one with other files. */
export const isDirty = (commit: string): boolean => commit.endsWith(dirty);

/** Whether the commit that is checked out contains another one. It must be in the local repository. */
export const contains = (commit: string): boolean =>
  git('merge-base', '--is-ancestor', commit.replace(dirty, ''), 'HEAD').status === 0;
