import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An attempt of the job `prod` of a run. */
interface ProdAttempt {
  readonly conclusion: string | null;
  /** When it ended: null while it runs. */
  readonly end: string | null;
  /** What became of its step `Deploy`. */
  readonly deploy?: string;
  /** What became of its step that goes back. */
  readonly back?: string;
  /** Whether GitHub lists its steps. */
  readonly hasSteps?: boolean;
  readonly status?: string;
}

interface ReleaseRun {
  readonly id: number;
  readonly commit: string;
  readonly attempts?: readonly ProdAttempt[];
  /** When it last changed, if that was not the end of its newest attempt. */
  readonly updated?: string;
}

const lineOf = (page: object) => `${JSON.stringify(page)}\n`;

/** The name of the file with the response about a path of the repository. */
const fileOf = (path: string) => path.replaceAll('/', ',');

const program = String.raw`#!/bin/bash
PATH=/usr/bin:/bin
echo "$*" >>"$0.log"
cd "$0.pages"
case "$1 $2" in
  'run download') [ ! -e no-artifacts ] ;;
  'api --paginate')
    path=${'$'}{5#repos/\{owner\}/\{repo\}/}
    file=${'$'}{path//\//,}
    if [ -e "$file" ]; then cat "$file"; else [[ $path == commits/* ]] && echo '{"statuses":[]}'; fi ;;
  'api --silent')
    [ ! -e read-only ] || exit 1
    status="{\"context\":\"prod\",\"updated_at\":\"$(date -u +%FT%TZ)\"}"
    echo "{\"statuses\":[$status]}" >"commits,${'$'}{3##*/},status?per_page=100" ;;
esac
`;

/**
 * Puts a program in place of GitHub's CLI, in a folder, which knows these runs of `release.yml`, newest
 * first. Returns the calls that it got.
 */
export const replaceGithubCli = (
  directory: string,
  runs: readonly ReleaseRun[],
  { hasArtifacts = true, mayWrite = true, withdrawn = {} } = {},
) => {
  const file = join(directory, 'gh');
  const listed = runs.map(({ id, commit: head_sha, attempts = [], updated }) => {
    const end = attempts.at(-1)?.end;
    const status = end === null ? 'in_progress' : 'completed';
    return { id, head_sha, status, updated_at: updated ?? end ?? '2026-01-01T00:00:00Z' };
  });
  const jobsOf = ({ attempts = [] }: ReleaseRun) =>
    attempts.map(({ conclusion, end, hasSteps = true, ...attempt }, at) => ({
      name: 'prod',
      run_attempt: at + 1,
      status: attempt.status ?? (end === null ? 'in_progress' : 'completed'),
      conclusion,
      completed_at: end,
      steps: hasSteps
        ? [
            { name: 'Deploy', conclusion: attempt.deploy ?? 'success' },
            { name: 'Go back to the release before', conclusion: attempt.back ?? 'skipped' },
          ]
        : [],
    }));
  const pages: Record<string, object[]> = {
    'actions/workflows/release.yml/runs?per_page=100': [
      { workflow_runs: listed.slice(0, 1) },
      { workflow_runs: listed.slice(1) },
    ],
  };
  for (const run of runs)
    pages[`actions/runs/${run.id}/jobs?filter=all&per_page=100`] = [
      { jobs: [] },
      { jobs: jobsOf(run) },
    ];
  for (const [commit, updated_at] of Object.entries(withdrawn))
    pages[`commits/${commit}/status?per_page=100`] = [
      { statuses: [{ context: 'prod', updated_at }] },
    ];
  rmSync(`${file}.pages`, { recursive: true, force: true });
  mkdirSync(`${file}.pages`);
  for (const [path, page] of Object.entries(pages))
    writeFileSync(join(`${file}.pages`, fileOf(path)), page.map(lineOf).join(''));
  if (!hasArtifacts) writeFileSync(join(`${file}.pages`, 'no-artifacts'), '');
  if (!mayWrite) writeFileSync(join(`${file}.pages`, 'read-only'), '');
  writeFileSync(`${file}.log`, '');
  writeFileSync(file, program, { mode: 0o755 });
  return () => readFileSync(`${file}.log`, 'utf8').trim().split('\n');
};
