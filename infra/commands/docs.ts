import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from 'commander';
import { pageFiles } from '../../lib/openapi/reference-page.ts';
import { limitsText } from '../build/limits-guide.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { runProgram } from './shared/run-program.ts';

const directory = join(projectDirectory, '.build', 'docs');

/**
 * The licences of Scalar and its dependencies. They are distributed with the page,
 * because it bundles that code.
 */
const licences = async (): Promise<string> => {
  const scalar = '[name="@scalar/api-reference"]';
  const { stdout } = await promisify(execFile)('npm', ['query', `${scalar}, ${scalar} *`], {
    cwd: projectDirectory,
    maxBuffer: 2 ** 26,
  });
  const packages: { name: string; version: string; license: string; path: string }[] =
    JSON.parse(stdout);
  const texts = packages.map(({ name, version, license, path }) => {
    const files = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: path });
    const text = files.map((file) => readFileSync(join(path, file), 'utf8')).join('\n');
    return `${name} ${version}: ${license}\n\n${text}`;
  });
  return texts.sort().join('\n\n');
};

/** Writes the reference page into an empty folder. */
const writePage = async () => {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const [name, read] of Object.entries(pageFiles(limitsText()))) {
    await writeFile(join(directory, name), await read());
  }
  await writeFile(join(directory, 'LICENSES.txt'), await licences());
  console.log(`Wrote ${directory}: any static host can serve it.`);
};

program
  .name('npm run docs')
  .description('Writes the reference page to .build/docs, for any static host.')
  .action(writePage);
await runProgram(program);
