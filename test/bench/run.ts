import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { coldRequests } from './cold.ts';
import { compareAnswers } from './compare-answers.ts';
import { buildContenders, measuredNames } from './contenders.ts';
import { regressionsOf } from './gate.ts';
import { hasValgrind } from './instructions.ts';
import { report } from './report.ts';
import { type Effort, measure, measureGated, type Results } from './results.ts';

const full: Effort = {
  counted: measuredNames,
  coldRequests,
  cpuRounds: 21,
  // By then V8 has optimised what runs often.
  warmUps: 2_000,
  warmRuns: 40,
};
const smoke: Effort = {
  counted: ['bare', 'hit', 'rejected'],
  coldRequests: ['getPet'],
  cpuRounds: 1,
  warmUps: 1,
  warmRuns: 1,
};

const inBench = (file: string) => join(import.meta.dirname, file);

const compare = async (directory: string, effort: Effort) => {
  const build = (folder: string) => buildContenders(join(directory, folder), { peers: true });
  const contenders = {
    counted: await build('counted'),
    timed: await build('timed'),
  };
  await compareAnswers(contenders.timed);
  const results = await measure(contenders, effort, console.log);
  const text = report(results);
  console.log(text);
  // The figures of a short run mean nothing, and the gate compares instructions.
  if (effort === smoke || results.coldInstructions.length === 0) return;
  await writeFile(inBench('RESULT.md'), text);
  await writeFile(inBench('results.json'), `${JSON.stringify(results, undefined, 1)}\n`);
  await writeFile(inBench('chart.svg'), chart(results));
};

const gate = async (directory: string) => {
  const committed: Results = JSON.parse(await readFile(inBench('results.json'), 'utf8'));
  const contenders = await buildContenders(directory, { peers: false });
  const counts = await hasValgrind();
  if (!counts) console.log('LEFT OUT: instructions, as valgrind is not installed.');
  const names = counts ? (['bare', 'hit', 'rejected'] as const) : [];
  const measured = await measureGated(contenders, names, coldRequests);
  const { worse, better } = regressionsOf(committed, measured);
  for (const line of better) console.log(`Better: ${line}. Run npm run bench to keep it.`);
  for (const line of worse) console.error(`Worse: ${line}`);
  if (worse.length > 0) process.exitCode = 1;
  else console.log('The benchmark’s gate passes.');
};

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
  },
});

const directory = await mkdtemp(join(tmpdir(), 'animal-store-bench-'));
try {
  if (values.gate) await gate(directory);
  else await compare(directory, values.smoke ? smoke : full);
} finally {
  await rm(directory, { recursive: true });
}
