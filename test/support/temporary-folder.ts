import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a folder, which is removed when the test ends, or with `afterAll` when the tests of its file end. */
export const temporaryFolder = async (
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> => {
  // The temporary folder of macOS is behind a link, and a debugger shows the real paths of sources.
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'animal-store-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
