import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { isProduction, stages } from '../../infra/settings/stages.ts';

interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly steps?: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');
const workflow = (name: string): Workflow => parse(read(`.github/workflows/${name}.yml`));
const check = workflow('check');
const release = workflow('release');
const stageWorkflow = workflow('stage');
const rehearsal = workflow('rehearsal');
const nightly = workflow('nightly');
const jobs = [check, release, nightly, workflow('codeql'), rehearsal].flatMap((each) =>
  Object.entries(each.jobs),
);

const commandsOf = (job?: Job) => job?.steps?.map(({ run = '' }) => run).join('\n') ?? '';

describe('a pull request', () => {
  it.each([
    [{ 'staging.diff': 'one line\n' }, '### staging\n\n~~~\none line\n\n~~~\n\n'],
    [
      { 'prod.diff': 'a ~~~~ b', 'staging.diff': 'c' },
      '### prod\n\n~~~~~~~\na ~~~~ b\n~~~~~~~\n\n### staging\n\n~~~~~~~\nc\n~~~~~~~\n\n',
    ],
  ])('gets a comment with what %j would change', (files, expected) => {
    const cwd = mkdtempSync(join(tmpdir(), 'animal-store-test-'));
    mkdirSync(join(cwd, 'diffs'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, 'diffs', name), text);
    const { status, stdout } = spawnSync(
      'bash',
      ['-eo', 'pipefail', '-c', commandsOf(check.jobs['comment'])],
      {
        cwd,
        env: { ...process.env, 'BASH_FUNC_gh%%': '() { cat; }', PULL_REQUEST: '1' },
        encoding: 'utf8',
      },
    );
    rmSync(cwd, { recursive: true });
    expect([status, stdout]).toEqual([0, expected]);
  });
});

it.each([
  ['', ''],
  [', again when a stage is added', '5', 'main\nhotfix/*'],
])(
  '.github/protect-repository protects main, hotfix branches and the environment of every job%s',
  (_when, rulesetId, accepted = '') => {
    const gh = `() { case "$2 $*" in
    orgs/store/teams/on-call*) echo 7 ;;
    */rulesets?*--jq*) echo '${rulesetId}' ;;
    */deployment-branch-policies*--jq*) echo '${accepted}' ;;
    *) echo "$*"; [[ "$*" != *--input* ]] || { tr -d '\\n'; echo; } ;; esac; }`;
    const path = join(projectDirectory, '.github', 'protect-repository');
    const { status, stdout } = spawnSync(path, ['store', 'on-call'], {
      env: { ...process.env, 'BASH_FUNC_gh%%': gh },
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(stdout.match(/--method \w+ \S+\/rulesets\S*/g)).toEqual(
      Array(2).fill(expect.stringMatching(rulesetId ? /PUT .*\/5$/ : /POST .*rulesets$/)),
    );
    expect(stdout.includes('deployment-branch-policies')).toBe(!accepted);
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
    const environments = [
      ...jobs.flatMap(([, { environment }]) => environment ?? []),
      ...stages.map(({ name }) => name),
    ];
    for (const name of environments) expect(stdout).toContain(`/environments/${name} --input`);
    for (const { name } of stages.filter(isProduction))
      expect(stdout).toMatch(
        new RegExp(`environments/${name} .*\\n.*"prevent_self_review": true.*"id": 7`),
      );
  },
);

describe('a release', () => {
  const runs = stageWorkflow.jobs['deploy']?.steps?.map(({ run = '' }) => run) ?? [];
  const stepOf = (command: string) => runs.findIndex((run) => run.includes(command));

  const directory = mkdtempSync(join(tmpdir(), 'animal-store-release-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  /** Runs a script as GitHub does, with functions in place of commands. */
  const bash = (script: string, functions = '') =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', `${functions}\n${script}`], {
      cwd: directory,
      env: { ...process.env, RUNNER_TEMP: directory, STACK: 'AnimalStore-prod' },
      encoding: 'utf8',
    });

  const jobsBefore = (name: string): string[] =>
    [release.jobs[name]?.needs ?? []].flat().flatMap((need) => [need, ...jobsBefore(need)]);

  it.each(stages.map(({ name }, at) => [name, stages.slice(0, at)] as const))(
    'reaches %s after the gate and the stages before it, with the same stacks',
    (name, before) => {
      const needed = ['check', 'synthesise', ...before.map((stage) => stage.name)];
      expect(jobsBefore(name)).toEqual(expect.arrayContaining(needed));
      const stacks = '$' + '{{ needs.synthesise.outputs.stacks }}';
      expect(release.jobs[name]?.with).toMatchObject({ stage: name, stacks });
    },
  );

  it.each(['pages', 'npm'])('publishes by the job %s what is in production', (name) => {
    const inProduction = stages.filter(isProduction).map((stage) => stage.name);
    expect(jobsBefore(name)).toEqual(expect.arrayContaining(inProduction));
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
    const tag = expect.stringMatching(
      /git\/refs .*=refs\/tags\/v1\.2\.3 .*sha=abc\nrelease create v1\.2\.3 /,
    );
    const published = expect.stringMatching(/^release create v1\.2\.3 /);
    expect(create('none')).toMatchObject({ status: 0, stdout: tag });
    expect(create('api*/git/ref/')).toMatchObject({ status: 0, stdout: published });
    expect(create('release*view')).toMatchObject({ status: 0, stdout: '' });
  });

  it('gives credentials of AWS only to the steps that deploy', () => {
    const steps = Object.values(stageWorkflow.jobs).flatMap((job) => job.steps ?? []);
    const login = steps.filter(({ uses = '' }) => uses.includes('/configure-aws-credentials@'));
    expect(login.map((step) => step.with?.['output-env-credentials'])).toEqual([false]);
    const given = steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('steps.aws.'));
    expect(given).not.toEqual([]);
    for (const { run } of given) expect(run).toContain('npm run deploy ');
    for (const { run } of given) expect(run).not.toMatch(/npm run (?!deploy )/);
  });

  it('is recorded as good after its smoke test, and only then', () => {
    expect(stepOf(' --record')).toBeGreaterThan(stepOf('npm run smoke'));
  });

  it('sends requests again after a pause before it goes back to the release before', () => {
    const smoke = (passes: number) => {
      const functions = `echo 0 >count; sleep() { echo "sleep $*"; }
        npm() { echo "npm $*"; n=$(($(<count) + 1)); echo $n >count; [ $n = ${passes} ]; }`;
      return bash(runs[stepOf('npm run smoke')] ?? '', functions);
    };
    expect(smoke(1)).toMatchObject({ status: 0, stdout: 'npm run smoke\n' });
    const twice = expect.stringMatching(/^npm run smoke\nsleep \d+\nnpm run smoke\n$/);
    expect(smoke(2)).toMatchObject({ status: 0, stdout: twice });
    expect(smoke(3)).toMatchObject({ status: 1, stdout: twice });
  });

  const goBack = (functions: string) =>
    bash(
      runs[stepOf(' --back ')] ?? '',
      `export BASE_URL=http://127.0.0.1:1 API_KEY=key GITHUB_SHA=c40; ${functions}`,
    );
  const responds = (status: number) => `curl() { printf ${status}; }`;

  it.each([200, 404, 500, 502])('goes back when prod responds with %d', (status) => {
    const { stdout, status: exitCode } = goBack(`${responds(status)}; npm() { echo "npm $*"; }`);
    expect(stdout).toMatch(/^npm run deploy -- AnimalStore-prod .*--if-commit c40\b/m);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['no connection is made', ':', /http:\/\/127.0.0.1:1 .*connect/i],
    ['prod refuses the key', responds(401), /API_KEY/],
  ])('stays in prod when %s, and says so', (_what, functions, reason) => {
    const { stdout, status } = goBack(`${functions}; npm() { echo "npm $*"; }`);
    expect(stdout).toMatch(reason);
    expect(stdout).not.toContain('npm run');
    expect(status).toBe(1);
  });

  it('fails when going back does', () => {
    expect(goBack(`${responds(500)}; npm() { false; }`).status).toBe(1);
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

it.each([
  ['nightly check', nightly],
  ['rehearsal', rehearsal],
])('a %s that fails opens an issue that links the run', (_what, { jobs: { issue, ...checks } }) => {
  expect([issue?.needs].flat()).toEqual(expect.arrayContaining(Object.keys(checks)));
  expect(openIssue(issue)).toMatch(
    /^issue create .*https:\/\/github\.com\/o\/n\/actions\/runs\/40\b/,
  );
});
