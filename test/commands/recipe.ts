import { execFileSync, type StdioOptions, spawnSync } from 'node:child_process';
import { mkdir, mkdtempDisposable, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { copySources } from '../support/copy-sources.ts';

/*
 * Applies the recipe "Add an operation" of .github/CONTRIBUTING.md to a copy of the project, and runs its
 * commands there. With `RUNS=many`, then leaves out one block after another: TypeScript or a test must name
 * what is missing.
 */

/** A file, or lines of a file at a place. */
interface Block {
  readonly file: string;
  /** The line above or below which the lines are inserted; absent for a whole file. */
  readonly place: { readonly side: string; readonly line: string } | undefined;
  readonly code: string;
}

const maxFiles = 9;

const fail = (reason: string): never => {
  throw new Error(reason);
};

const guide = await readFile(join(projectDirectory, '.github', 'CONTRIBUTING.md'), 'utf8');
const [recipe = ''] = /^## Add an operation$.*?(?=^## )/ms.exec(guide) ?? [];
const blocks = [
  ...recipe.matchAll(
    /^(?:In|Write) `([^`]+)`(?:, (above|below) the line\s`([^`]+)`)?:\n\n```ts\n(.*?)^```$/gms,
  ),
].map(([, file = '', side, line = '', code = '']): Block => {
  return { file, place: side === undefined ? undefined : { side, line }, code };
});
const files = [...new Set(blocks.map(({ file }) => file))];
const commands = /^```sh\n(.*?)^```$/ms.exec(recipe)?.[1] ?? fail('the recipe has no commands');
const operation = /(\w+): \{ method/.exec(recipe)?.[1] ?? fail('the recipe has no route');
if (blocks.length !== recipe.match(/^```ts$/gm)?.length)
  fail('a block of the recipe names no file and no place');
if (files.length > maxFiles) fail(`the recipe has ${files.length} files, more than ${maxFiles}`);

// On the disk of the project, because the packages are hard links: npm and esbuild resolve a symbolic link to
// node_modules, and then find the packages outside the copy.
const temporary = join(projectDirectory, '.build');
await mkdir(temporary, { recursive: true });
await using copy = await mkdtempDisposable(join(temporary, 'recipe-'));
await copySources(copy.path);
await mkdir(join(copy.path, '.build'));
await symlink(join(temporary, 'venv'), join(copy.path, '.build/venv'));
execFileSync('cp', ['-al', join(projectDirectory, 'node_modules'), copy.path]);

const { RUNS, ...env } = process.env;
/** Runs a script in the copy, whose generated tests run as usual. */
const run = (script: string, stdio: StdioOptions) =>
  spawnSync('sh', ['-ec', script], { cwd: copy.path, stdio, env, encoding: 'utf8' });

/** A file of the project with a block. Throws if the place of the block is not one line. */
const withBlock = (source: string, { file, place, code }: Block): string => {
  if (!place) return code;
  const lines = source.split('\n');
  const found = lines.flatMap((line, index) => (line.trim() === place.line ? [index] : []));
  const [index = 0] = found;
  if (found.length !== 1) fail(`${file} has ${found.length} lines \`${place.line}\`, not one`);
  return lines
    .toSpliced(place.side === 'above' ? index : index + 1, 0, code.slice(0, -1))
    .join('\n');
};

/** Writes the files of the recipe into the copy, with all its blocks but one. */
const write = async (leftOut?: Block) => {
  for (const file of files) {
    const applied = blocks.filter((block) => block.file === file && block !== leftOut);
    const isNew = blocks.some((block) => block.file === file && !block.place);
    const path = join(copy.path, file);
    if (isNew && applied.length === 0) await rm(path, { force: true });
    else {
      const source = isNew ? '' : await readFile(join(projectDirectory, file), 'utf8');
      await writeFile(path, applied.reduce(withBlock, source));
    }
  }
};

await write();
console.log(`${blocks.length} blocks in ${files.length} files, then:\n${commands}`);
if (run(commands, 'inherit').status !== 0) fail('a command fails with the whole recipe');

const find = `npm exec -c 'NO_COLOR=1 tsc --incremental --tsBuildInfoFile .build/recipe.tsbuildinfo'
npm exec -c 'NO_COLOR=1 vitest run test/project/operations.test.ts'`;
for (const block of RUNS === 'many' ? blocks : []) {
  const what = `${block.file} without ${block.code.split('\n', 1)}`;
  await write(block);
  const { status, stdout, stderr } = run(find, 'pipe');
  if (status === 0) fail(`nothing notices this: ${what}`);
  const names = [basename(block.file), operation, ...block.code.trim().split(/\W/, 1)];
  const message = `${stdout}${stderr}`
    .split('\n')
    .find((line) => /error/i.test(line) && names.some((name) => line.includes(name)));
  if (!message) fail(`no message names this: ${what}\n${stdout}${stderr}`);
  console.log(`${what}\n        ${message?.trim()}`);
}
