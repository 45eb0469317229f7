import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { compareResponses } from './compare-responses.ts';
import { type Build, buildContenders, type Program } from './contenders.ts';
import { type Case, measureColdStarts, measureWarmInvocations } from './measure.ts';
import { report, verdictsOf, verdictTable } from './report.ts';
import { type RequestName, requestNames } from './requests.ts';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
  },
});

const casesOf = (
  builds: readonly Build[],
  programs: readonly Program[],
  measured: readonly RequestName[] = requestNames,
): readonly Case[] =>
  builds.flatMap((build) =>
    programs.flatMap((program) => measured.map((request) => ({ program, build, request }))),
  );

const inBench = (file: string) => join(import.meta.dirname, file);

/** Counts only what takes part in the bars that need no other packages. */
const gate = async (outdir: string) => {
  const contenders = await buildContenders(outdir, { peers: false });
  const cases = casesOf(['hit', 'absent'], ['bare', 'service']);
  return measureColdStarts(contenders, cases);
};

/** Runs every part of the benchmark, so briefly that its figures mean nothing. */
const smoke = async (outdir: string) => {
  const contenders = await buildContenders(outdir, { peers: true });
  await compareResponses(contenders);
  const cases = casesOf(['hit', 'rejected'], ['bare', 'service'], ['getPet']);
  const coldStarts = await measureColdStarts(contenders, cases);
  console.log(report(coldStarts, await measureWarmInvocations(contenders, ['getPet'], 1)));
  return coldStarts;
};

const full = async (outdir: string) => {
  const contenders = await buildContenders(outdir, { peers: true });
  await compareResponses(contenders);
  const programs = ['bare', 'aws-lite', 'sdk-call', 'service', 'hono', 'powertools'] as const;
  const others = ['createPet', 'listPets'] as const;
  const [coldStarts, warm] = await Promise.all([
    measureColdStarts(contenders, [
      ...casesOf(['defaults', 'hit'], programs, ['getPet']),
      // One request of the frameworks is enough.
      ...casesOf(['defaults', 'hit'], ['bare', 'sdk-call', 'service'], others),
      ...casesOf(['rejected'], ['service']),
      ...casesOf(['absent'], ['bare', 'service']),
    ]),
    measureWarmInvocations(contenders, requestNames, 4),
  ]);
  await writeFile(inBench('RESULT.md'), report(coldStarts, warm));
  await writeFile(inBench('chart.svg'), chart(coldStarts));
  return coldStarts;
};

await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-bench-'));
const run = values.gate ? gate : values.smoke ? smoke : full;
const coldStarts = await run(directory.path);
console.log(verdictTable(coldStarts));
if (verdictsOf(coldStarts).some(({ isMet }) => !isMet)) process.exitCode = 1;
