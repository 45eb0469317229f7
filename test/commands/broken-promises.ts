import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { type PromiseBreak, promiseBreaks } from './promise-breaks.ts';

const Report = v.object({
  testResults: v.array(
    v.object({
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
});

/** Runs the tests of a file whose titles have one of these parts, in a copy of the project. */
const runTests = (copy: string, file: string, titles: readonly string[], ...more: string[]) => {
  const report = join(copy, 'report.json');
  writeFileSync(report, '{"testResults":[]}');
  const config = file.endsWith('.check.ts') ? 'vitest.checks.config.ts' : 'vitest.config.ts';
  const pattern = titles.map(RegExp.escape).join('|');
  const words = ['run', '--config', `test/${config}`, `test/${file}`, '-t', pattern, ...more];
  spawnSync('vitest', [...words, '--reporter=json', `--outputFile=${report}`], {
    cwd: copy,
    // A test that fails ends the run, and leaves its temporary folders.
    env: { ...process.env, TMPDIR: dirname(copy) },
  });
  const { testResults } = v.parse(Report, JSON.parse(readFileSync(report, 'utf8')));
  // A file that can't be loaded has no results.
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const isAny = (title: string, wanted: string) =>
    results.some(({ status, fullName }) => status === wanted && fullName.includes(title));
  return {
    passes: (title: string) => isAny(title, 'passed') && !isAny(title, 'failed'),
    fails: (title: string) => isAny(title, 'failed'),
  };
};

/** Tells whether a test fails in a copy of the project with an edit. */
const isNoticed = (copy: string, { test, title, file, text, replacement }: PromiseBreak) => {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(text, () => replacement),
  );
  try {
    // A break can make each test wait for its time limit.
    return runTests(copy, test, [title], '--bail=1').fails(title);
  } finally {
    writeFileSync(path, source);
  }
};

const copyProject = (copy: string) => {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: projectDirectory });
  for (const name of `${listed}`.split('\0').filter(Boolean))
    cpSync(join(projectDirectory, name), join(copy, name));
  mkdirSync(join(copy, '.build'));
  for (const installed of ['node_modules', '.build/venv'])
    symlinkSync(join(projectDirectory, installed), join(copy, installed));
};

/** Prints a line, also into the summary of a job on GitHub. */
const print = (line: string) => {
  console.log(line);
  const { GITHUB_STEP_SUMMARY: summary } = process.env;
  if (summary) appendFileSync(summary, `- ${line}\n`);
};

/**
 * Breaks each promise in a copy of the project. Its test must pass before and fail after. Arguments select
 * tests by parts of the names of their files.
 */
const run = (selected: readonly string[]) => {
  const temporary = mkdtempSync(join(tmpdir(), 'animal-store-broken-'));
  const copy = join(temporary, 'project');
  const isSelected = ({ test }: PromiseBreak) =>
    selected.length === 0 || selected.some((word) => test.includes(word));
  const chosen = Map.groupBy(promiseBreaks.filter(isSelected), ({ test }) => test);
  let wrong = 0;
  try {
    copyProject(copy);
    for (const [test, breaks] of chosen) {
      const titles = breaks.map(({ title }) => title);
      const whole = runTests(copy, test, titles);
      for (const each of breaks) {
        const startedAt = performance.now();
        const outcome = !whole.passes(each.title)
          ? 'NOT TRIED, because the test does not pass without it'
          : isNoticed(copy, each)
            ? 'noticed'
            : 'NOT NOTICED';
        if (outcome !== 'noticed') wrong += 1;
        const seconds = Math.round((performance.now() - startedAt) / 1_000);
        print(`${each.promise}: ${outcome} (${test}, "${each.title}", ${seconds} s)`);
      }
    }
  } finally {
    rmSync(temporary, { recursive: true, maxRetries: 5 });
  }
  if (wrong > 0) throw new Error(`${wrong} of the breaks were not noticed, or not tried`);
};

run(process.argv.slice(2));
