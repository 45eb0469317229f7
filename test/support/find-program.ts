import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Path of the first of these programs in some folders, or else on the PATH; undefined without any. */
export const findProgram = (
  names: readonly string[],
  directories: readonly string[] = [],
): string | undefined =>
  [...directories, ...(process.env['PATH'] ?? '').split(delimiter)]
    .flatMap((directory) => names.map((name) => join(directory, name)))
    .find((path) => existsSync(path));
