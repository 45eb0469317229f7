import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Returns a PATH on which these shell scripts replace the programs of their names. */
export const pathWith = async (scripts: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await temporaryFolder();
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return [folder, process.env['PATH']].join(delimiter);
};
