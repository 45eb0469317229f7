import { execFileSync } from 'node:child_process';

/**
 * Returns a function that runs git in a folder, as an author of tests, and returns what it prints. Neither
 * the configuration nor an enclosing git of who runs the tests decides anything.
 */
export const gitIn = (directory: string) => {
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  const env = {
    ...Object.fromEntries(variables),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@store.test'];
  return (...words: readonly string[]): string =>
    execFileSync('git', [...author, ...words], { cwd: directory, encoding: 'utf8', env }).trim();
};

/** Adds an empty commit, and returns its id. */
export const addCommit = (git: ReturnType<typeof gitIn>, message: string): string => {
  git('commit', '--quiet', '--allow-empty', '--message', message);
  return git('rev-parse', 'HEAD');
};
