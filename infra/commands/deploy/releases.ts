import { execFileSync } from 'node:child_process';
import * as v from 'valibot';

/** A release that reached prod: the id of its run of `release.yml`, its commit, and when its job ended. */
export interface Release {
  readonly run: string;
  readonly commit: string;
  /** In milliseconds since 1970. */
  readonly end: number;
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
      status: v.string(),
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
 * Returns what each attempt of a run's job `prod` did, the newest last. The job counts, not its run: a
 * release that could not be published is in prod as well.
 * https://docs.github.com/en/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
 */
const prodJobsOf = (run: string) =>
  pagesOf(Jobs, `actions/runs/${run}/jobs?filter=all&per_page=100`)
    .flatMap(({ jobs }) => jobs)
    .filter(({ name }) => name === 'prod')
    .toSorted((one, other) => one.run_attempt - other.run_attempt)
    .map(({ status, conclusion, completed_at, steps }) => {
      // GitHub may not list the steps of earlier attempts: https://github.com/r-universe-org/help/issues/607
      const succeeded = conclusion === 'success';
      const deploy = steps.find(({ name }) => name === 'Deploy')?.conclusion;
      const back = steps.find(({ name }) => name === 'Go back to the release before')?.conclusion;
      const began = succeeded || (deploy !== undefined && deploy !== 'skipped');
      return {
        isUnderWay: status === 'in_progress',
        succeeded,
        began,
        /** Whether its version reached prod. AWS also completes a deployment whose job was cancelled. */
        arrived: began && status === 'completed' && deploy !== 'failure',
        wentBack: back === 'success',
        end: completed_at ?? Infinity,
      };
    });
type ProdJob = ReturnType<typeof prodJobsOf>[number];

/** The context of the commit status that says that prod went back from a commit. */
const context = 'prod';

/** Returns when prod last went back from a commit: 0 if it never did. */
const withdrawnAt = (commit: string): number => {
  const pages = pagesOf(Statuses, `commits/${commit}/status?per_page=100`);
  const statuses = pages.flatMap((page) => page.statuses);
  return statuses.find((status) => status.context === context)?.updated_at ?? 0;
};

/** Returns the runs of `release.yml`. A run changes when a job of it ends: one under way has changed last. */
const listRuns = () =>
  pagesOf(Runs, 'actions/workflows/release.yml/runs?per_page=100')
    .flatMap(({ workflow_runs }) => workflow_runs)
    .map(({ id, head_sha: commit, status, updated_at }) => {
      const isOver = status === 'completed';
      return { run: `${id}`, commit, isOver, changed: isOver ? updated_at : Infinity };
    })
    .toSorted((one, other) => other.changed - one.changed);

type Run = ReturnType<typeof listRuns>[number];

/** Returns the release whose chosen job ended last, and from which prod did not go back later. */
const lastWith = (
  runs: readonly Run[],
  choose: (jobs: readonly ProdJob[]) => ProdJob | undefined,
) => {
  let last: (Release & ProdJob) | undefined;
  for (const { run, commit, changed } of runs) {
    if (last && changed < last.end) break;
    const job = choose(prodJobsOf(run));
    if (!job || (last && job.end < last.end)) continue;
    if (withdrawnAt(commit) <= job.end) last = { run, commit, ...job };
  }
  return last;
};

/**
 * Returns the last release that was good in prod before a run deployed, and from which prod did not go back.
 * Throws for a run that deployed nothing. Needs GitHub's CLI, signed in.
 */
export const goodReleaseBefore = (before: string): Release | undefined => {
  // The steps of a job under way, as of the run that calls this, may not be listed yet.
  const isOwn = before === process.env['GITHUB_RUN_ID'];
  const limit = isOwn ? Infinity : prodJobsOf(before).findLast(({ began }) => began)?.end;
  if (limit === undefined) throw new Error(`The run ${before} deployed nothing to prod.`);
  const runs = listRuns();
  const commit = runs.find(({ run }) => run === before)?.commit;
  return lastWith(
    runs.filter((other) => other.commit !== commit),
    (jobs) => {
      const job = jobs.findLast(({ began }) => began);
      return job?.succeeded && job.end <= limit ? job : undefined;
    },
  );
};

/**
 * Returns the release that prod has, good or not. Throws while a run, except the one that calls this, deploys
 * to prod; a job that waits for approval does not. Needs GitHub's CLI, signed in.
 */
export const releaseInProd = (): Release | undefined => {
  const runs = listRuns();
  for (const { run } of runs.filter(({ isOver }) => !isOver)) {
    if (run === process.env['GITHUB_RUN_ID']) continue;
    if (prodJobsOf(run).some(({ isUnderWay }) => isUnderWay))
      throw new Error(`The run ${run} is in its job prod. Wait for its end, and try again.`);
  }
  const last = lastWith(runs, (jobs) => jobs.findLast(({ arrived }) => arrived));
  return last?.wentBack ? goodReleaseBefore(last.run) : last;
};

/**
 * Records that prod went back to a release, with a commit status for each one that reached prod after it.
 * https://docs.github.com/en/rest/commits/statuses#create-a-commit-status
 */
export const recordReturnTo = (release: Release): void => {
  const description = `Prod went back to ${release.commit}`;
  const fields = { state: 'failure', context, description };
  const words = Object.entries(fields).flatMap(([name, value]) => ['-f', `${name}=${value}`]);
  for (const { run, commit, changed } of listRuns()) {
    // A status belongs to a commit, and so to each of its releases.
    if (changed <= release.end || commit === release.commit) continue;
    const job = prodJobsOf(run).findLast(({ arrived }) => arrived);
    if (!job || job.wentBack || job.end <= release.end || withdrawnAt(commit) > job.end) continue;
    try {
      gh('api', '--silent', `repos/{owner}/{repo}/statuses/${commit}`, ...words);
    } catch (cause) {
      throw new Error(
        `${description}, but GitHub did not record that ${commit} is withdrawn. Run this again.`,
        { cause },
      );
    }
  }
};
