import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';

interface Job {
  readonly 'runs-on': string;
  readonly 'timeout-minutes': number;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: string;
  readonly steps: readonly {
    readonly name?: string;
    readonly if?: string;
    readonly uses?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Workflow {
  readonly on: unknown;
  readonly concurrency: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`));
const check = workflow('check');
const release = workflow('release');
const rehearsal = workflow('rehearsal');
const nightly = workflow('nightly');
const jobs = [check, release, nightly, workflow('codeql'), rehearsal].flatMap((each) =>
  Object.entries(each.jobs),
);

const commandsOf = (job?: Job) => job?.steps.map(({ run = '' }) => run).join('\n') ?? '';

// actionlint and zizmor check the rest: `.ci/check-workflows`.
describe('every job', () => {
  it.each(jobs)('%s gets an identity only to assume a role or to publish', (_name, job) => {
    const users = /configure-aws-credentials@|actions\/deploy-pages@|npm publish /;
    const needsIdentity = users.test(JSON.stringify(job.steps));
    expect(job.permissions?.['id-token'] === 'write').toBe(needsIdentity);
  });

  it.each(jobs)('%s runs no code of the repository if it writes to GitHub', (_name, job) => {
    const { 'id-token': _, ...permissions } = job.permissions ?? {};
    const hasCode = job.steps.some(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    if (hasCode && Object.values(permissions).includes('write')) {
      expect(commandsOf(job).trim()).toBe('');
    }
  });

  it.each(jobs)('%s calls npm scripts that exist', (_name, job) => {
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, script = ''] of commandsOf(job).matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
      expect(scripts).toHaveProperty(script);
    }
  });
});

describe('a pull request', () => {
  it('is checked without secrets or permissions, so that one from a fork can be', () => {
    expect(check.on).toBe('pull_request');
    expect(read('.github/workflows/check.yml')).not.toContain('secrets.');
    const { if: condition, permissions } = check.jobs['check'] ?? {};
    expect([condition, permissions]).toEqual([undefined, undefined]);
    expect(commandsOf(check.jobs['check'])).toMatch(/\.ci\/run$/);
  });

  it('is compared with what is deployed as a protected environment, by templates only, and not from a fork', () => {
    const { diff } = check.jobs;
    expect(diff?.if).toBe(
      "vars.AWS_DIFF_ROLES != '' && github.event.pull_request.head.repo.full_name == github.repository",
    );
    expect(diff?.environment).toBe('diff');
    expect(commandsOf(diff).match(/\baws .*? .*? /g)).toEqual(['aws cloudformation get-template ']);
    expect(commandsOf(diff)).toMatch(/npm run --silent diff -- .* --template /);
    // As where a release is synthesised: its bundles have code caches of that architecture.
    expect(diff?.['runs-on']).toBe(release.jobs['synthesise']?.['runs-on']);
  });

  it.each([
    [{ 'staging.diff': 'one line\n' }, '### staging\n\n~~~\none line\n\n~~~\n\n'],
    [
      { 'prod.diff': 'a ~~~~ b', 'staging.diff': 'c' },
      '### prod\n\n~~~~~~~\na ~~~~ b\n~~~~~~~\n\n### staging\n\n~~~~~~~\nc\n~~~~~~~\n\n',
    ],
  ])('gets a comment with what %j would change', (files, expected) => {
    const { diff, comment } = check.jobs;
    const [upload, download] = [diff, comment].map((job) =>
      job?.steps.find(({ uses = '' }) => uses.includes('load-artifact@')),
    );
    expect(upload?.with?.['path']).toMatch(/\/\$\{\{ matrix\.stage \}\}\.diff$/);
    expect(download?.with).toMatchObject({ path: 'diffs', 'merge-multiple': true });
    const cwd = mkdtempSync(join(tmpdir(), 'animal-store-test-'));
    mkdirSync(join(cwd, 'diffs'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, 'diffs', name), text);
    const { status, stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', commandsOf(comment)], {
      cwd,
      env: { ...process.env, 'BASH_FUNC_gh%%': '() { cat; }', PULL_REQUEST: '1' },
      encoding: 'utf8',
    });
    rmSync(cwd, { recursive: true });
    expect([status, stdout]).toEqual([0, expected]);
  });
});

it('.github/protect-repository protects main, hotfix branches and the environment of every job', () => {
  const gh = `() { [ "$2" = orgs/store/teams/on-call ] && echo 7 && return; echo "$*"; [[ "$*" != *--input* ]] || { tr -d '\\n'; echo; }; }`;
  const path = join(projectDirectory, '.github', 'protect-repository');
  const { status, stdout } = spawnSync(path, ['store', 'on-call'], {
    env: { ...process.env, 'BASH_FUNC_gh%%': gh },
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const bodies = stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const review = { required_approving_review_count: 1, require_last_push_approval: true };
  for (const branch of ['main', 'hotfix/*'])
    expect(bodies).toContainEqual(
      expect.objectContaining({
        conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
        rules: expect.arrayContaining([
          { type: 'pull_request', parameters: expect.objectContaining(review) },
        ]),
      }),
    );
  for (const [, { environment }] of jobs)
    if (environment !== undefined) expect(stdout).toContain(`/environments/${environment} --input`);
  expect(stdout).toMatch(/environments\/prod .*\n.*"prevent_self_review": true.*"id": 7/);
});

describe('a release', () => {
  const { steps = [] } = release.jobs['prod'] ?? {};
  const stepOf = (command: string) => steps.findIndex(({ run }) => run?.includes(command));

  const directory = mkdtempSync(join(tmpdir(), 'animal-store-release-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  /** Runs a script as GitHub does, with functions in place of commands. */
  const bash = (script: string, functions = '') =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', `${functions}\n${script}`], {
      cwd: directory,
      env: { ...process.env, RUNNER_TEMP: directory },
      encoding: 'utf8',
    });

  it('is one at a time, and a hotfix waits for none', () => {
    expect(release.concurrency).toEqual({
      group: expect.stringContaining("== 'workflow_dispatch' && 'hotfix' || 'release' }}"),
      'cancel-in-progress': false,
    });
  });

  it('reaches prod after the gate, and after staging has passed its tests', () => {
    const needs = ['staging', 'acceptance', 'prod'].map((name) => release.jobs[name]?.needs);
    expect(needs).toEqual([['check', 'synthesise'], 'staging', 'acceptance']);
  });

  // A branch of a hotfix may not use these environments.
  it.each(['pages', 'npm'])('publishes by the job %s what is in prod and on main', (name) => {
    const { needs, if: condition } = release.jobs[name] ?? {};
    expect([needs, condition]).toEqual(['prod', "github.ref == 'refs/heads/main'"]);
  });

  it.each(['staging', 'prod'])('deploys to %s the stacks that were synthesised', (name) => {
    const { steps: synthesis = [], 'runs-on': machine } = release.jobs['synthesise'] ?? {};
    // Lambda accepts V8's code cache of its own architecture only.
    expect(machine).toBe('ubuntu-24.04-arm');
    const upload = synthesis.find(({ uses = '' }) => uses.startsWith('actions/upload-artifact@'));
    expect(upload?.with).toMatchObject({ name: 'stacks', path: 'cdk.out' });
    const job = release.jobs[name];
    const download = job?.steps.find(({ uses = '' }) =>
      uses.startsWith('actions/download-artifact@'),
    );
    const path = ['$', '{{ env.STACKS }}'].join('');
    expect(download?.with).toMatchObject({ name: 'stacks', path });
    expect(commandsOf(job)).toContain(`npm run deploy -- AnimalStore-${name} --app "$STACKS" `);
    expect(commandsOf(job)).not.toMatch(/synth|cdk/);
  });

  it('can be repeated: its artifacts replace those of an earlier attempt', () => {
    for (const { steps: all } of Object.values(release.jobs))
      for (const { uses = '', with: given } of all)
        if (uses.includes('/upload-artifact@')) expect(given?.['overwrite']).toBe(true);
  });

  // Without it, a job that is re-run may not find the artifact of an earlier attempt:
  // https://github.com/actions/download-artifact/issues/486
  it.each(Object.entries(release.jobs))('%s finds its artifact when it is re-run', (_name, job) => {
    const downloads = job.steps.filter(({ uses = '' }) => uses.includes('/download-artifact@'));
    for (const { with: given } of downloads) {
      expect(given?.['github-token']).toMatch(/^\$\{\{ github\.token \}\}$/);
      expect(job.permissions?.['actions']).toBe('read');
    }
  });

  // https://github.com/cli/cli/issues/9514
  it('creates its tag before the GitHub release, unless there is one', () => {
    const script = commandsOf(release.jobs['github-release']);
    const create = (found: string) =>
      bash(
        script,
        `GH_REPO=o/n GITHUB_SHA=abc; jq() { echo 1.2.3; }
        gh() { if [[ "$*" == ${found}* ]]; then return; fi; case "$*" in
          'release view '*|*/git/ref/*) false ;; *) echo "$*" ;; esac; }`,
      );
    const tag = 'api --silent repos/o/n/git/refs -f ref=refs/tags/v1.2.3 -f sha=abc\n';
    const published =
      'release create v1.2.3 client/openapi.json --verify-tag --notes-file release-notes.md\n';
    expect(create('none')).toMatchObject({ status: 0, stdout: tag + published });
    expect(create('api*/git/ref/')).toMatchObject({ status: 0, stdout: published });
    expect(create('release*view')).toMatchObject({ status: 0, stdout: '' });
  });

  it('lets the tests that follow a deployment have no credentials of AWS', () => {
    expect(release.jobs['acceptance']?.permissions).toBeUndefined();
    const tests = steps.filter(({ run = '' }) => run.includes('npm run smoke'));
    expect(tests).toHaveLength(2);
    const credentials = 'export AWS_SESSION_TOKEN=1 AWS_REGION=1 ACTIONS_ID_TOKEN_REQUEST_URL=1';
    for (const { run } of tests) {
      const { status, stdout } = bash(`${run}`, `${credentials}; npm() { env; }`);
      expect(status).toBe(0);
      expect(stdout).not.toMatch(/^(AWS|ACTIONS_ID_TOKEN)_/m);
    }
  });

  it('is recorded as good after its smoke test, and only then', () => {
    const [smoke, record] = [stepOf('npm run smoke'), stepOf(' --record')];
    expect(record).toBe(smoke + 1);
    expect(steps[record]).toEqual({
      run: 'npm run deploy -- AnimalStore-prod --app "$STACKS" --record',
    });
  });

  it('sends requests that leave no trace, and goes back to the release before if one fails', () => {
    const test = steps[stepOf('npm run smoke')];
    const [back, again] = steps.slice(-2);
    expect(again).toMatchObject({
      if: "failure() && steps.back.outcome == 'success'",
      run: expect.stringContaining('npm run smoke'),
    });
    expect(back?.if).toBe("failure() && steps.smoke.outcome == 'failure'");
    const smoke = (passes: number) => {
      const functions = `echo 0 >count; sleep() { echo "sleep $*"; }
        npm() { echo "npm $*"; n=$(($(<count) + 1)); echo $n >count; [ $n = ${passes} ]; }`;
      return bash(test?.run ?? '', functions);
    };
    expect(smoke(1)).toMatchObject({ status: 0, stdout: 'npm run smoke\n' });
    const twice = 'npm run smoke\nsleep 30\nnpm run smoke\n';
    expect(smoke(2)).toMatchObject({ status: 0, stdout: twice });
    expect(smoke(3)).toMatchObject({ status: 1, stdout: twice });
    expect(read('test/acceptance/smoke.test.ts')).not.toMatch(/\bcreate\b|method:/);

    /** The step, after a smoke test in which prod responded with a status, and with this npm. */
    const goBack = (status: string, npm = 'true') => {
      const variables = 'BASE_URL=https://api.store.test/v1 API_KEY=key GITHUB_SHA=c40';
      const functions = `${variables}; curl() { printf '${status} Could not resolve host'; [ ${status} != 000 ]; }; npm() { echo "npm $*"; ${npm}; }`;
      return bash(back?.run ?? '', functions);
    };
    const deploy = 'npm run deploy -- AnimalStore-prod --back --leave c40 --yes\n';
    for (const status of ['200', '404', '500', '502']) {
      const { stdout, status: exitCode } = goBack(status);
      expect(stdout.replace(/^::.*\n/m, '')).toBe(deploy);
      expect(exitCode).toBe(0);
    }
    for (const [status, reason] of [
      ['000', "https://api.store.test/v1 can't be reached (Could not resolve host)"],
      ['401', 'prod refuses the secret API_KEY'],
    ] as const) {
      const { stdout, status: exitCode } = goBack(status);
      expect(stdout).toContain(
        `::error::The release stays in prod: ${reason}, and going back would`,
      );
      expect(stdout).not.toContain('npm');
      expect(exitCode).toBe(1);
    }
    const refused = goBack('500', 'false');
    expect(refused.stdout).toContain(`${deploy}::error::The release stays in prod`);
    expect(refused.status).toBe(1);
  });

  // API Gateway ends a response after 29 s:
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
  it('blames the network before it goes back only if no connection was made', () => {
    const environment = 'export BASE_URL=http://127.0.0.1:1 API_KEY=key GITHUB_SHA=c40';
    const { stdout, status } = bash(steps.at(-2)?.run ?? '', environment);
    expect(stdout).toMatch(/: http:\/\/127.0.0.1:1 can't be reached \(.*connect.*\), and going/i);
    expect(status).toBe(1);
    const [, seconds] = /--max-time (\d+)/.exec(steps.at(-2)?.run ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(29);
  });

  it('changes no alias beside CloudFormation, which would refuse the next release', () => {
    // https://github.com/aws/serverless-application-model/issues/291
    for (const path of ['.github/workflows/release.yml', 'infra/runbook.md'])
      expect(read(path)).not.toMatch(/update-alias|UpdateAlias/);
  });
});

/** Runs the job that opens an issue. Returns the calls of GitHub's CLI that change something. */
const openIssue = (job: Job | undefined) => {
  const { stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', commandsOf(job)], {
    env: {
      ...process.env,
      'BASH_FUNC_gh%%': '() { case "$2" in list) echo 0 ;; *) echo "$*" ;; esac; }',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'o/n',
      GITHUB_RUN_ID: '40',
    },
    encoding: 'utf8',
  });
  return stdout;
};
const ownRun = 'https://github.com/o/n/actions/runs/40';

it('a nightly check that fails or takes too long opens an issue', () => {
  const { issue, ...checks } = nightly.jobs;
  expect(issue?.needs).toEqual(Object.keys(checks));
  expect(issue?.if).toBe(
    "always() && (contains(needs.*.result, 'failure') || contains(needs.*.result, 'cancelled'))",
  );
  const words = `--title The nightly checks fail --body ${ownRun}`;
  expect(openIssue(issue)).toBe(`issue create ${words}\n`);
});

it('a rehearsal that fails or takes too long opens an issue', () => {
  const { issue } = rehearsal.jobs;
  expect(issue?.if).toBe(
    "always() && needs.rehearse.result != 'skipped' && needs.rehearse.result != 'success'",
  );
  const words = `--title The rehearsal of releases fails --body ${ownRun}`;
  expect(openIssue(issue)).toBe(`issue create ${words}\n`);
});
