import { cp, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { projectDirectory } from '../../infra/build/project-directory.ts';

/** What commands make. */
const made = ['.build', '.git', '.local', 'cdk.out', 'node_modules'];

/** Copies the project into a folder, without the installed packages, so that a test may change it. */
export const copySources = async (directory: string): Promise<void> => {
  const filter = (path: string) => !made.includes(basename(path));
  // One by one, because a folder can't be copied into itself.
  for (const name of (await readdir(projectDirectory)).filter(filter))
    await cp(join(projectDirectory, name), join(directory, name), { recursive: true, filter });
};
