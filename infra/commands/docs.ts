import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { pageFiles } from '../../lib/openapi/reference-page.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { limitsText } from '../settings/limits-text.ts';
import { runProgram } from './shared/run-program.ts';

const directory = join(projectDirectory, '.build', 'docs');
const scalarLicence = join(projectDirectory, 'node_modules/@scalar/fastify-api-reference/LICENSE');

/** Writes the reference page into an empty folder. */
const writePage = async () => {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const [name, read] of Object.entries(pageFiles(limitsText()))) {
    await writeFile(join(directory, name), await read());
  }
  await copyFile(scalarLicence, join(directory, 'LICENSE.txt'));
  console.log(`Wrote ${directory}: any static host can serve it.`);
};

program
  .name('npm run docs')
  .description('Writes the reference page to .build/docs, for any static host.')
  .action(writePage);
await runProgram(program);
