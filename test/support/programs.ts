import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Writes shell scripts into a folder, by their paths in it. */
export const writePrograms = async (
  folder: string,
  scripts: Readonly<Record<string, string>>,
): Promise<void> => {
  for (const [path, script] of Object.entries(scripts)) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
};

/** Returns a PATH on which these shell scripts replace the programs of their names. */
export const pathWith = async (scripts: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await temporaryFolder();
  await writePrograms(folder, scripts);
  return [folder, process.env['PATH']].join(delimiter);
};
