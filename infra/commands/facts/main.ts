import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { projectDirectory } from '../../build/project-directory.ts';
import { documentsWithFacts, withFacts } from './facts.ts';

program
  .name('npm run facts')
  .description('Writes the facts between the markers of the documents, from the definitions.')
  .parse();

for (const name of documentsWithFacts) {
  const path = join(projectDirectory, name);
  await writeFile(path, withFacts(await readFile(path, 'utf8')));
}
