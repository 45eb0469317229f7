import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every folder has this name, then the id of its process, then what makes it unique. */
const prefix = 'animal-store-functions-';

/**
 * Makes a folder for a copy of the bundles. It is outside the project, so that a bundle finds no package that
 * it lacks on Lambda. Removes the folders of processes that were killed. Its path has no link, which Node.js
 * would resolve: debuggers look for the sources from there.
 */
export const newCopyFolder = async (): Promise<string> => {
  const parent = await realpath(tmpdir());
  for (const name of await readdir(parent)) {
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isRunning(Number(owner))) continue;
    // Another user's folder can't be removed.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
};

/** Whether a process runs. The signal 0 only asks, and another user's process refuses it. */
const isRunning = (id: number): boolean => {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
};
