import { PluginKind } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';
import { survivors } from './survivors.ts';

type Metrics = Parameters<NonNullable<Reporter['onMutationTestReportReady']>>[1];
type Folder = Metrics['systemUnderTestMetrics'];
type File = NonNullable<Folder['file']>;
type Mutant = File['mutants'][number];

const filesOf = ({ file, childResults }: Folder): File[] =>
  file ? [file] : childResults.flatMap(filesOf);

/** The lines that a mutant changes, after the change, as one line. */
const changedLine = (mutant: Mutant) => mutant.getMutatedLines().replaceAll(/\s+/g, ' ').trim();

const hasSurvived = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';

const fail = (message: string) => {
  process.exitCode = 1;
  return message;
};

const describeSurvivors = ({ name, mutants }: File): string[] => {
  const reasons = survivors[name] ?? {};
  const survived = mutants.filter(hasSurvived).map((mutant) => {
    const line = changedLine(mutant);
    const reason = reasons[line] ?? fail('No test notices it. Write one, or add the reason.');
    return `${name}:${mutant.location.start.line}\n  ${line}\n  ${reason}`;
  });
  // A test may or may not notice a mutant that takes too long.
  const unnoticed = new Set(mutants.filter(({ status }) => status !== 'Killed').map(changedLine));
  const outdated = Object.keys(reasons)
    .filter((line) => !unnoticed.has(line))
    .map((line) => `${name}\n  ${line}\n  ${fail('It is no survivor. Remove it from the list.')}`);
  return [...survived, ...outdated];
};

/**
 * Prints each survivor by file, with its reason in survivors.ts. A survivor without a reason fails the run,
 * and so does a reason without a survivor.
 */
const survivorsReporter = (): Reporter => ({
  onMutationTestReportReady: (_report, { systemUnderTestMetrics }) => {
    const described = filesOf(systemUnderTestMetrics).flatMap(describeSurvivors);
    console.log(['Survivors, which survivors.ts lists with reasons:', ...described].join('\n'));
  },
});

export const strykerPlugins = [
  { kind: PluginKind.Reporter, name: 'survivors', factory: survivorsReporter },
];
