import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { projectDirectory } from '../../infra/project-directory.ts';

const venv = join(projectDirectory, '.build', 'venv', 'bin');

/**
 * Path of a tool of `test/requirements.txt`, from `.build/venv`, where `.ci/python-tools` installs it, or else from PATH;
 * undefined when neither has it. Throws in CI, where none may be missing.
 */
export const pythonTool = (name: string): string | undefined => {
  const paths = [venv, ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = paths.map((path) => join(path, name)).find(existsSync);
  if (found === undefined && process.env['CI']) throw new Error(`${name} is missing`);
  return found;
};
