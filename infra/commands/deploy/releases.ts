import { execFileSync } from 'node:child_process';
import * as v from 'valibot';

/** A release that is good in prod: the id of its run of `release.yml`, and its commit. */
export interface Release {
  readonly run: string;
  readonly commit: string;
}

/** Runs GitHub's CLI, shows its errors, and returns its output. Throws when it fails. */
export const gh = (...words: readonly string[]): string =>
  execFileSync('gh', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const Time = v.pipe(v.string(), v.transform(Date.parse));
const Runs = v.object({
  workflow_runs: v.array(
    v.object({ id: v.number(), head_sha: v.string(), status: v.string(), updated_at: Time }),
  ),
});
const Jobs = v.object({
  jobs: v.array(
    v.object({
      name: v.string(),
      run_attempt: v.optional(v.number(), 1),
      conclusion: v.nullable(v.string()),
      completed_at: v.nullable(Time),
      steps: v.optional(
        v.array(v.object({ name: v.string(), conclusion: v.nullable(v.string()) })),
        [],
      ),
    }),
  ),
});
const Statuses = v.object({
  statuses: v.array(v.object({ context: v.string(), updated_at: Time })),
});

/** Returns all pages of a resource of the repository. With `--jq`, GitHub's CLI prints each on a line. */
const pagesOf = <Page extends v.GenericSchema>(page: Page, path: string): v.InferOutput<Page>[] => {
  const text = gh('api', '--paginate', '--jq', '.', `repos/{owner}/{repo}/${path}`);
  const lines = text.trim().split('\n');
  return lines.map((line) => v.parse(v.pipe(v.string(), v.parseJson(), page), line));
};

/**
 * Returns the job `prod` of a run's newest attempt that deployed, and when it ended. The job counts, not its
 * run: a release that could not be published is in prod as well.
 * https://docs.github.com/en/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
 */
const prodJobOf = (run: string | number) => {
  const found = pagesOf(Jobs, `actions/runs/${run}/jobs?filter=all&per_page=100`)
    .flatMap(({ jobs }) => jobs)
    .filter(({ name }) => name === 'prod')
    .filter(({ steps }) =>
      steps.some(({ name, conclusion }) => name === 'Deploy' && conclusion !== 'skipped'),
    )
    .toSorted((one, other) => one.run_attempt - other.run_attempt)
    .at(-1);
  return (
    found && { succeeded: found.conclusion === 'success', end: found.completed_at ?? Infinity }
  );
};

/** The context of the commit status that says that prod went back from a commit. */
const context = 'prod';

/** Returns when prod last went back from a commit: 0 if it never did. */
const withdrawnAt = (commit: string): number => {
  const pages = pagesOf(Statuses, `commits/${commit}/status?per_page=100`);
  const statuses = pages.flatMap((page) => page.statuses);
  return statuses.find((status) => status.context === context)?.updated_at ?? 0;
};

/**
 * Returns the release that reached prod last, and from which prod did not go back. With the id of a run, it
 * must have reached prod before that run did. Throws for a run that did not. Needs GitHub's CLI, signed in.
 */
export const lastRelease = (before?: string): Release | undefined => {
  // The steps of a job under way, as of the run that calls this, may not be listed yet.
  const isUnderWay = before === undefined || before === process.env['GITHUB_RUN_ID'];
  const limit = isUnderWay ? Infinity : prodJobOf(before)?.end;
  if (limit === undefined) throw new Error(`The run ${before} deployed nothing to prod.`);
  // A run changes when a job of it ends, so one that changed earlier has no job that ended later.
  const runs = pagesOf(Runs, 'actions/workflows/release.yml/runs?per_page=100')
    .flatMap(({ workflow_runs }) => workflow_runs)
    .map((run) => ({ ...run, changed: run.status === 'completed' ? run.updated_at : Infinity }))
    .toSorted((one, other) => other.changed - one.changed);
  let last: (Release & { readonly end: number }) | undefined;
  for (const { id, head_sha: commit, changed } of runs) {
    if (last && changed < last.end) break;
    const run = `${id}`;
    const job = prodJobOf(run);
    if (!job?.succeeded || run === before || job.end > limit) continue;
    if (last && job.end < last.end) continue;
    if (withdrawnAt(commit) <= job.end) last = { run, commit, end: job.end };
  }
  return last && { run: last.run, commit: last.commit };
};

/**
 * Records that prod went back to a release, with a commit status for each one that reached prod after it.
 * https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
 */
export const recordReturnTo = (release: Release): void => {
  const description = `Prod went back to ${release.commit}`;
  const fields = { state: 'failure', context, description };
  const words = Object.entries(fields).flatMap(([name, value]) => ['-f', `${name}=${value}`]);
  let withdrawn: Release | undefined;
  for (;;) {
    const last = lastRelease();
    if (last === undefined || last.run === release.run) return;
    const problem = `${description}, but GitHub did not record that ${last.commit} is withdrawn. Run this again.`;
    if (last.run === withdrawn?.run) throw new Error(problem);
    try {
      gh('api', '--silent', `repos/{owner}/{repo}/statuses/${last.commit}`, ...words);
    } catch (cause) {
      throw new Error(problem, { cause });
    }
    withdrawn = last;
  }
};
