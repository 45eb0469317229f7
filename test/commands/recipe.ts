import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, mkdtempDisposable, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectDirectory } from '../../infra/build/project-directory.ts';

/*
 * Tries the recipe "Add an operation" of .github/CONTRIBUTING.md. Applies its blocks to a copy of the
 * project, which must pass types, lint and the tests of its operations, among them requests to the new
 * operation on the local service. Then leaves out each block in turn: TypeScript or a test must name what is
 * missing.
 */

/** A file, or lines of a file at a place. */
interface Block {
  readonly file: string;
  /** The line above or below which the lines are inserted; absent for a whole file. */
  readonly place: { readonly side: string; readonly line: string } | undefined;
  readonly code: string;
}

/** The tests that are about each operation, or about what a new one changes. */
const tests = [
  'acceptance/authentication',
  'acceptance/count-pets',
  'client/contract',
  'infra/alarms',
  'infra/before-traffic',
  'infra/bundles',
  'infra/permissions',
  'project/openapi',
  'project/operations',
  'project/reference-page.test',
  'service/dynamodb-cost',
  'service/faults',
  'service/secrets',
];
/**
 * Leaves out tests: that of the page's licences, which are not found through a link to node_modules, one that
 * sends 60 requests at once to each operation, for which a busy machine has no time, and those that wait for
 * time limits.
 */
const others = '^(?!npm run docs |.*still retries after a long outage|an answer that stalls)';
const maxFiles = 8;

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
if (blocks.length === 0 || blocks.length !== recipe.match(/^```ts$/gm)?.length)
  fail('a block of the recipe names no file and no place');
if (files.length > maxFiles) fail(`the recipe has ${files.length} files, more than ${maxFiles}`);

await using copy = await mkdtempDisposable(join(tmpdir(), 'animal-store-recipe-'));

const tracked = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
  cwd: projectDirectory,
  encoding: 'utf8',
});
for (const file of tracked.split('\0').filter((name) => name !== ''))
  await cp(join(projectDirectory, file), join(copy.path, file));
await mkdir(join(copy.path, '.build'));
for (const installed of ['node_modules', '.build/venv'])
  await symlink(join(projectDirectory, installed), join(copy.path, installed));

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

/** Runs a command in the copy. Returns whether it succeeded, and what it printed. */
const run = async (command: string) => {
  const child = spawn('sh', ['-c', `${command} 2>&1`], {
    cwd: copy.path,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const printed = await text(child.stdout);
  return { passed: (await exit) === 0, printed };
};

const start = performance.now();
const report = (line: string) =>
  console.log(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${line}`);

const types = 'tsc --incremental --tsBuildInfoFile .build/recipe.tsbuildinfo';
const completeness = 'vitest run test/project/operations.test.ts';

await write();
for (const command of [
  'npm run openapi',
  types,
  'npm run lint',
  // A busy machine may need a second try.
  `vitest run --config test/vitest.config.ts --retry 2 -t '${others}' ${tests.join(' ')}`,
  'vitest run --config test/vitest.checks.config.ts --retry 2 client/client-package',
]) {
  const { passed, printed } = await run(command);
  if (!passed) fail(`with the whole recipe: ${command}\n${printed}`);
  report(`passed with ${blocks.length} blocks in ${files.length} files: ${command}`);
}

for (const block of blocks) {
  const { file, code } = block;
  const [firstLine = ''] = code.split('\n');
  const what = block.place ? `in ${file} ${firstLine.trim()}` : file;
  await write(block);
  let { passed, printed } = await run(types);
  if (passed) ({ passed, printed } = await run(completeness));
  if (passed) fail(`nothing notices when this is missing: ${what}`);
  const names = [basename(file), ...(code.match(/\w*count\w*/gi) ?? [])];
  const message = printed
    .split('\n')
    .find((line) => /error/i.test(line) && names.some((name) => line.includes(name)));
  if (!message) fail(`no message names what is missing: ${what}\n${printed}`);
  report(`without ${what}\n        ${message?.trim()}`);
}
