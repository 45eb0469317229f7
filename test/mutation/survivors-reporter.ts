import { existsSync } from 'node:fs';
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

/** The survivors that have a reason, and what needs a test, a reason or no reason any more. */
const compareWithList = (files: readonly File[]) => {
  const explained: string[] = [];
  const problems: string[] = [];
  for (const { name, mutants } of files) {
    const reasons = survivors[name] ?? {};
    for (const mutant of mutants.filter(hasSurvived)) {
      const line = changedLine(mutant);
      const reason = reasons[line];
      const found = `${name}:${mutant.location.start.line}\n  ${line}`;
      if (reason) explained.push(`${found}\n  ${reason}`);
      else problems.push(`${found}\n  No test notices it. Write one, or add the reason.`);
    }
    // A test may or may not notice a mutant that takes too long.
    const unnoticed = mutants.filter((one) => hasSurvived(one) || one.status === 'Timeout');
    const lines = new Set(unnoticed.map(changedLine));
    for (const line of Object.keys(reasons))
      if (!lines.has(line))
        problems.push(`${name}\n  ${line}\n  It is no survivor. Remove it from the list.`);
  }
  for (const name of Object.keys(survivors))
    if (!existsSync(name))
      problems.push(`${name}\n  There is no such file. Remove it from the list.`);
  return { explained, problems };
};

/**
 * Prints each survivor by file, with its reason in survivors.ts. The run fails on a survivor without a
 * reason, on a reason without a survivor, and when no file is changed.
 */
const survivorsReporter = (): Reporter => ({
  onMutationTestReportReady: (_report, { systemUnderTestMetrics }) => {
    // Stryker only logs what a reporter throws.
    process.exitCode = 1;
    const files = filesOf(systemUnderTestMetrics);
    const { explained, problems } = compareWithList(files);
    if (files.length === 0)
      problems.push('No file was changed. Correct the patterns of `mutate`, which match none.');
    console.log(['Survivors, which survivors.ts lists with reasons:', ...explained].join('\n'));
    if (problems.length === 0) process.exitCode = 0;
    else console.log(['The run fails because of these:', ...problems].join('\n'));
  },
});

export const strykerPlugins = [
  { kind: PluginKind.Reporter, name: 'survivors', factory: survivorsReporter },
];
