import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { compareResponses } from './compare-responses.ts';
import { type Build, buildContenders, type Program } from './contenders.ts';
import { type Case, measureColdStarts, measureWarmInvocations } from './measure.ts';
import { type Counts, report, tables, verdictsOf } from './report.ts';
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

/** The programs of warm invocations, and their request. The counts of lists differ too much between runs. */
const warmCases = casesOf(['hit'], ['bare-sigv4', 'sdk-call', 'service'], ['getPet']);

/** Counts only what takes part in the bars that need no other packages. */
const gate = async (outdir: string): Promise<Counts> => {
  const contenders = await buildContenders(outdir, { peers: false });
  const programs = ['bare-sigv4', 'sdk-call', 'service'] as const;
  const [cold, warm] = await Promise.all([
    measureColdStarts(contenders, [
      ...casesOf(['hit'], programs),
      ...casesOf(['absent'], ['bare-sigv4', 'service']),
    ]),
    measureWarmInvocations(contenders, warmCases),
  ]);
  return { cold, warm };
};

/** Runs every part of the benchmark, so briefly that its figures mean nothing. */
const smoke = async (outdir: string): Promise<Counts> => {
  const contenders = await buildContenders(outdir, { peers: true });
  await compareResponses(contenders);
  const programs = ['bare-sigv4', 'service'] as const;
  const cold = await measureColdStarts(
    contenders,
    casesOf(['hit', 'rejected'], programs, ['getPet']),
  );
  const service = casesOf(['hit'], ['service'], ['getPet']);
  return { cold, warm: await measureWarmInvocations(contenders, service, 1) };
};

const full = async (outdir: string): Promise<Counts> => {
  const contenders = await buildContenders(outdir, { peers: true });
  await compareResponses(contenders);
  const programs = ['bare-sigv4', 'aws-lite', 'sdk-call', 'service', 'hono', 'powertools'] as const;
  const [cold, warm] = await Promise.all([
    measureColdStarts(contenders, [
      // One request of the peers is enough.
      ...casesOf(['defaults', 'hit'], programs, ['getPet']),
      ...casesOf(
        ['defaults', 'hit'],
        ['bare-sigv4', 'sdk-call', 'service'],
        ['createPet', 'listPets'],
      ),
      ...casesOf(['rejected'], ['service']),
      ...casesOf(['absent'], ['bare-sigv4', 'service']),
    ]),
    measureWarmInvocations(contenders, warmCases),
  ]);
  await writeFile(inBench('RESULT.md'), report({ cold, warm }));
  await writeFile(inBench('chart.svg'), chart(cold));
  return { cold, warm };
};

await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-bench-'));
const run = values.gate ? gate : values.smoke ? smoke : full;
const counts = await run(directory.path);
console.log(tables(counts));
if (verdictsOf(counts).some(({ isMet }) => !isMet)) process.exitCode = 1;
