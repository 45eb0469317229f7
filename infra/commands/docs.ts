import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { program } from 'commander';
import { licenceFiles, pageFile, pageFiles } from '../openapi/reference-page.ts';
import { projectDirectory } from '../project-directory.ts';

const directory = join(projectDirectory, '.build', 'docs');

program
  .name('npm run docs')
  .description('Writes the reference page to .build/docs, for any static host.')
  .parse();

await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });
for (const name of pageFiles) await writeFile(join(directory, name), await pageFile(name));
for (const file of licenceFiles) await cp(file, join(directory, basename(file)));
console.log(`Wrote ${directory}: any static host can serve it.`);
