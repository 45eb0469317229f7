import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { compareAnswers } from './compare-answers.ts';
import { buildContenders } from './contenders.ts';
import { budgetOf, report, summaryTable } from './report.ts';
import { type Effort, measure, type Results } from './results.ts';

const full: Effort = {
  coldRounds: 51,
  warmRounds: 4,
  warmMs: 1_500,
  catalogueSizes: [100, 1_000, 10_000, 100_000],
};
const smoke: Effort = {
  coldRounds: 1,
  warmRounds: 1,
  warmMs: 30,
  catalogueSizes: [100, 1_000],
};

const readme = join(import.meta.dirname, 'README.md');

/** Puts the summary between the marks of the benchmark's README. */
const updateReadme = async (results: Results) => {
  const text = await readFile(readme, 'utf8');
  const marked = /(<!-- bench -->\n).*(<!-- \/bench -->)/s;
  if (!marked.test(text))
    throw new Error('test/bench/README.md has no place for the benchmark’s summary');
  await writeFile(readme, text.replace(marked, `$1${summaryTable(results)}\n$2`));
};

const { values } = parseArgs({ options: { smoke: { type: 'boolean', default: false } } });

const directory = await mkdtemp(join(tmpdir(), 'animal-store-bench-'));
try {
  const contenders = await buildContenders(directory);
  await compareAnswers(contenders);
  const results = await measure(contenders, values.smoke ? smoke : full, console.log);
  const text = report(results, 'npm run bench');
  console.log(text);
  // A short run shows that everything can be measured; its figures mean nothing.
  if (!values.smoke) {
    await writeFile(join(import.meta.dirname, 'RESULT.md'), text);
    const json = `${JSON.stringify(results, undefined, 2)}\n`;
    await writeFile(join(import.meta.dirname, 'results.json'), json);
    await writeFile(join(import.meta.dirname, 'chart.svg'), chart(results));
    await updateReadme(results);
    const missed = budgetOf(results).filter(({ isMet }) => !isMet);
    console.log(`Over their bars: ${missed.map(({ figure }) => figure).join('; ') || 'none'}`);
  }
} finally {
  await rm(directory, { recursive: true });
}
