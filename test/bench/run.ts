import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Build, buildContenders, type Contenders, type Program } from './contenders.ts';
import {
  type Case,
  measureColdStarts,
  measureCpuTimes,
  measureWarmInvocations,
} from './measure.ts';
import { type RequestName, requestNames } from './measured-requests.ts';
import { type Measured, report, tables, verdictsOf } from './report.ts';

const { values } = parseArgs({ options: { gate: { type: 'boolean', default: false } } });

const casesOf = (
  build: Build,
  programs: readonly Program[],
  measured: readonly RequestName[] = requestNames,
): readonly Case[] =>
  programs.flatMap((program) => measured.map((request) => ({ program, build, request })));

/** One request of an empty handler is enough. */
const emptyOf = (...builds: readonly Build[]) =>
  builds.flatMap((build) => casesOf(build, ['empty'], ['getPet']));

/** Measures only what takes part in a bar. */
const gate = async (contenders: Contenders): Promise<Measured> => ({
  cold: await measureColdStarts(contenders, [
    ...emptyOf('deployed'),
    ...casesOf('usual', ['bare-sigv4']),
    ...casesOf('deployed', ['sdk-call', 'service']),
  ]),
  // The counts of lists differ too much between runs.
  warm: await measureWarmInvocations(
    contenders,
    casesOf('deployed', ['sdk-call', 'service'], ['getPet']),
  ),
  cpu: [],
});

const all: readonly Program[] = ['bare-sigv4', 'sdk-call', 'service'];

/** Measures everything, and writes RESULT.md. */
const full = async (contenders: Contenders): Promise<Measured> => {
  const cold = [
    ...emptyOf('usual', 'deployed', 'no-wrapper', 'no-cache'),
    ...casesOf('usual', all),
    ...casesOf('deployed', all),
    ...casesOf('no-wrapper', ['service']),
    ...casesOf('no-cache', ['service']),
  ];
  const measured = {
    cold: await measureColdStarts(contenders, cold),
    warm: await measureWarmInvocations(contenders, casesOf('deployed', all, ['getPet'])),
    // Last, because nothing else may run meanwhile.
    cpu: await measureCpuTimes(
      contenders,
      cold.filter(({ request }) => request === 'getPet'),
    ),
  };
  await writeFile(join(import.meta.dirname, 'RESULT.md'), report(measured));
  return measured;
};

await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-bench-'));
const contenders = await buildContenders(directory.path);
const measured = await (values.gate ? gate : full)(contenders);
console.log(tables(measured));
if (verdictsOf(measured).some(({ isMet }) => !isMet)) process.exitCode = 1;
