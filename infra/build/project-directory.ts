import { join } from 'node:path';

/** The root of this repository. */
export const projectDirectory = join(import.meta.dirname, '..', '..');
