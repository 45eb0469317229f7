import { spawnSync } from 'node:child_process';

const git = (...words: readonly string[]) => spawnSync('git', words, { encoding: 'utf8' });

/** Returns the commit of the project that is checked out, or `unknown` outside a git repository. */
export const checkedOutCommit = (): string => {
  const { status, stdout } = git('rev-parse', 'HEAD');
  return status === 0 ? stdout.trim() : 'unknown';
};

/** Whether the commit that is checked out contains another one. It must be in the local repository. */
export const contains = (commit: string): boolean =>
  git('merge-base', '--is-ancestor', commit, 'HEAD').status === 0;
