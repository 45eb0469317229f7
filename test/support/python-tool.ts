import { join } from 'node:path';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { findProgram } from './find-program.ts';

/**
 * Path of a tool of `test/requirements.txt`, from `.build/venv`, where `.ci/python-tools` installs it, or
 * else from PATH; undefined when neither has it. Throws in CI, where none may be missing.
 */
export const pythonTool = (name: string): string | undefined => {
  const found = findProgram([name], [join(projectDirectory, '.build', 'venv', 'bin')]);
  if (found === undefined && process.env['CI']) throw new Error(`${name} is missing`);
  return found;
};
