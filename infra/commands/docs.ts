import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { licencesOf } from '../openapi/licences.ts';
import { pageFile, pageFiles } from '../openapi/reference-page.ts';
import { projectDirectory } from '../project-directory.ts';

const directory = join(projectDirectory, '.build', 'docs');

await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });
for (const name of pageFiles) await writeFile(join(directory, name), await pageFile(name));
await writeFile(join(directory, 'LICENSES.txt'), await licencesOf('@scalar/api-reference'));
console.log(`Wrote ${directory}: any static host can serve it.`);
