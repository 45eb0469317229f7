import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Build, buildContenders, type Program } from './contenders.ts';
import { type Case, measureColdStarts, measureWarmInvocations } from './measure.ts';
import { type Counts, report, tables, verdictsOf } from './report.ts';
import { type RequestName, requestNames } from './requests.ts';

const { values } = parseArgs({ options: { gate: { type: 'boolean', default: false } } });

const casesOf = (
  builds: readonly Build[],
  programs: readonly Program[],
  measured: readonly RequestName[] = requestNames,
): readonly Case[] =>
  builds.flatMap((build) =>
    programs.flatMap((program) => measured.map((request) => ({ program, build, request }))),
  );

const programs = ['bare-sigv4', 'sdk-call', 'service'] as const;

/** The programs of warm invocations, and their request. The counts of lists differ too much between runs. */
const warmCases = casesOf(['hit'], programs, ['getPet']);

/** Counts only what takes part in the bars of this project's build. */
const gate = async (outdir: string): Promise<Counts> => {
  const contenders = await buildContenders(outdir);
  const [cold, warm] = await Promise.all([
    measureColdStarts(contenders, [
      ...casesOf(['hit'], programs),
      ...casesOf(['absent'], ['bare-sigv4', 'service']),
    ]),
    measureWarmInvocations(contenders, warmCases),
  ]);
  return { cold, warm };
};

const full = async (outdir: string): Promise<Counts> => {
  const contenders = await buildContenders(outdir);
  const [cold, warm] = await Promise.all([
    measureColdStarts(contenders, [
      ...casesOf(['defaults', 'hit'], programs),
      ...casesOf(['rejected'], ['service']),
      ...casesOf(['absent'], ['bare-sigv4', 'service']),
    ]),
    measureWarmInvocations(contenders, warmCases),
  ]);
  await writeFile(join(import.meta.dirname, 'RESULT.md'), report({ cold, warm }));
  return { cold, warm };
};

await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-bench-'));
const run = values.gate ? gate : full;
const counts = await run(directory.path);
console.log(tables(counts));
if (verdictsOf(counts).some(({ isMet }) => !isMet)) process.exitCode = 1;
