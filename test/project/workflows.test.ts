import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { isProduction, stages } from '../../infra/settings/stages.ts';
import { addCommit, gitIn } from '../support/git-in.ts';
import { type Job, jobsOf, startedJobs } from '../support/github-workflow.ts';
import { pathWith } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');
const ruleset = (name: string) => JSON.parse(read(`.github/rulesets/${name}.json`));

const release = jobsOf('release');
const { deploy } = jobsOf('stage');

/** The context of a run of the workflow `release`. */
const runOf = (event_name: string, ref: string, commit = '') => ({
  github: { event_name, ref },
  inputs: { 'go-back-to': commit },
  vars: { AWS_REGION: 'eu-west-1' },
});
const push = runOf('push', 'refs/heads/main');
const [hotfixes] = ruleset('hotfix').conditions.ref_name.include;
const hotfix = runOf('workflow_dispatch', hotfixes.replace('*', 'a'));
const wayBackTo = (commit: string) => runOf('workflow_dispatch', 'refs/heads/main', commit);
const wayBack = wayBackTo('abc');

const names = stages.map(({ name }) => name);
const production = stages.filter(isProduction).map(({ name }) => name);
const first = ['check', 'synthesise'];

it('a release reaches the stages, and publishes, as infra/releases.md says', () => {
  const publishing = ['pages', 'npm', 'github-release'];
  expect(startedJobs(push)).toEqual([...first, ...names, ...publishing]);
  expect(startedJobs(hotfix)).toEqual([...first, ...names]);
  expect(startedJobs(wayBack)).toEqual(['synthesise', ...production]);
  expect(startedJobs({ ...push, vars: { AWS_REGION: '' } })).toEqual(first);
});

it.each(['failure', 'cancelled'])(
  'after the result %s, a release ends, and an issue is opened at night',
  (result) => {
    for (const job of first) expect(startedJobs(push, { [job]: result })).toEqual(first);
    expect(startedJobs(wayBackTo(''), { synthesise: result })).toEqual(['synthesise']);
    expect(startedJobs(wayBack, { synthesise: result })).toEqual(['synthesise']);
    for (const [at, name] of names.entries()) {
      const reached = [...first, ...names.slice(0, at + 1)];
      expect(startedJobs(push, { [name]: result })).toEqual(reached);
    }
    expect(jobsOf('nightly', { needs: { soak: { result } }, success: false })['issue']?.if).toBe(
      true,
    );
  },
);

it('a run that is cancelled between two jobs deploys and publishes nothing more', () => {
  const done = { result: 'success', outputs: { deployed: 'true' } };
  const needs = { synthesise: done, staging: done, prod: done, npm: done };
  for (const run of [push, hotfix, wayBack]) {
    const jobs = jobsOf('release', { ...run, needs, success: false, cancelled: true });
    for (const name of [...names, 'pages', 'npm', 'github-release'])
      expect(jobs[name]?.if, name).toBe(false);
  }
  expect(jobsOf('stage', { cancelled: true })['deploy']?.if).toBe(false);
});

/** Runs the script of a step with these programs on its PATH. Returns its exit code and all that it wrote. */
const runStep = async (step: Job | undefined, programs = {}, cwd = projectDirectory) => {
  const GITHUB_OUTPUT = join(await temporaryFolder(), 'output');
  const env = { ...step?.env, PATH: await pathWith(programs), GITHUB_OUTPUT };
  const script = `touch "$GITHUB_OUTPUT"\n${step?.run}\ncat "$GITHUB_OUTPUT"`;
  return spawnSync('bash', ['-e', '-c', script], { cwd, env, encoding: 'utf8' });
};

const runs = [
  { run: push, options: '', tests: 'acceptance' },
  { run: hotfix, options: '--all-at-once ', tests: 'smoke' },
  { run: wayBack, options: '--all-at-once --revert ', tests: '' },
];

it.each(stages)('$name gets what was built, in time and in groups of its own', async (stage) => {
  const runsOfStage = runs.filter(({ run }) => isProduction(stage) || run !== wayBack);
  const groups = new Set();
  for (const { run, options, tests } of runsOfStage) {
    const needs = { synthesise: { outputs: { stacks: 'built' } } };
    const job = jobsOf('release', { ...run, needs })[stage.name];
    expect(`${job?.concurrency}`).toContain(stage.name);
    groups.add(job?.concurrency);
    expect(job?.permissions).toMatchObject({ ...deploy?.permissions });

    const given = jobsOf('stage', { inputs: job?.with });
    const steps = given['deploy']?.steps ?? [];
    const path = steps.find((step) => step.with?.['artifact-ids'] === 'built')?.with?.['path'];
    const deploying = steps.find((step) => step.run?.includes('npm run deploy'));
    const { stdout } = await runStep(deploying, { npm: 'echo "$*"', aws: 'echo address' });
    const command = `run deploy -- --stage ${stage.name} --app ${path} ${options}--yes`;
    expect(stdout).toBe(`${command}\nbase-address=address\ndeployed=true\n`);
    expect(steps[0]?.with?.['ref']).toBe(run.inputs['go-back-to']);
    expect(given['test']?.if && job?.with?.['tests']).toBe(!isProduction(stage) && tests);
  }
  expect(groups.size).toBe(runsOfStage.length);

  // CodeDeploy waits for an hour for a check that never reports:
  // https://github.com/davidgf/serverless-plugin-canary-deployments/issues/32
  const minutes = deploy?.['timeout-minutes'] ?? 0;
  expect(minutes).toBeGreaterThan(60 + stage.canaryMinutes);
  const durations = deploy?.steps?.map((step) => step.with?.['role-duration-seconds']);
  expect(durations).toContain(minutes * 60);
});

it('what is published was built by a job that runs no test', () => {
  const needs = { synthesise: { outputs: { publication: 'built' } } };
  const { synthesise, ...others } = jobsOf('release', { ...push, needs });
  for (const { if: isStarted = true, run = '' } of synthesise?.steps ?? [])
    if (isStarted) expect(run).toMatch(/^(npm run (synth|client|docs))?$/);
  const steps = Object.values(others).flatMap((job) => job.steps ?? []);
  const artifacts = steps.flatMap((step) => step.with?.['artifact-ids'] ?? []);
  expect(new Set(artifacts)).toEqual(new Set(['built']));
});

it('a release by hand is of a hotfix, or of a commit that was reviewed for main', async () => {
  const choosing = (run: typeof push) => jobsOf('release', run)['synthesise']?.steps?.[1];
  for (const run of [push, hotfix]) expect(choosing(run)?.if).toBe(false);
  expect(choosing({ ...hotfix, inputs: wayBack.inputs })?.if).toBe(true);
  // What actions/checkout fetches into a clone.
  const directory = await temporaryFolder();
  const git = gitIn(directory);
  git('init', '--quiet', '--initial-branch', 'main');
  const start = addCommit(git, 'start');
  git('switch', '--quiet', '--create', 'hotfix/a');
  const [middle, end] = [addCommit(git, 'middle'), addCommit(git, 'end')];
  git('switch', '--quiet', 'main');
  const second = addCommit(git, 'second');
  git('merge', '--quiet', '--no-ff', 'hotfix/a');
  const merge = git('rev-parse', 'HEAD');
  git('update-ref', 'refs/remotes/origin/main', merge);
  const pattern = `${start[0]}.${start.slice(2)}`;
  git('tag', pattern);

  const releasedBy = async (commit: string) => {
    git('switch', '--quiet', '--detach', merge);
    const step = choosing(wayBackTo(commit));
    expect(step?.if, 'Nothing checks the commit').toBe(true);
    const { status } = await runStep(step, {}, directory);
    return status === 0 ? git('rev-parse', 'HEAD') : 'refused';
  };
  for (const commit of [start, second, end, merge]) expect(await releasedBy(commit)).toBe(commit);
  for (const commit of ['', middle, 'main', start.slice(0, 12), pattern])
    expect(await releasedBy(commit), commit).toBe('refused');
});

it('a job that compares commits gets their history', () => {
  const { check, synthesise } = release;
  for (const job of [jobsOf('pull-request')['pull-request'], check, synthesise, deploy])
    expect(job?.steps?.[0]?.with).toMatchObject({ 'fetch-depth': 0 });
});

it('a program reads each variable that a workflow gives to tests', () => {
  const programs = ['test/programs/stage-tests.ts', 'test/support/runs.ts'].map(read).join('\n');
  const jobs = [jobsOf('stage')['test'], jobsOf('nightly')['soak']];
  for (const { env = {}, run = '' } of jobs.flatMap((job) => job?.steps ?? [])) {
    for (const name of [...Object.keys(env), ...(run.match(/\b[A-Z_]+(?==)/g) ?? [])]) {
      const reading = new RegExp(`env\\['${name}'\\]|\\b${name}\\b.* = process\\.env`);
      expect(run.includes(`"$${name}"`) || reading.test(programs), name).toBe(true);
    }
  }
});

it('main gets what another person has reviewed, and the job of a pull request has checked', () => {
  const rule = (name: string, type: string) =>
    ruleset(name).rules.find((each: { type: string }) => each.type === type).parameters;
  const review = { required_approving_review_count: 1, require_last_push_approval: true };
  for (const name of ['main', 'hotfix']) expect(rule(name, 'pull_request')).toMatchObject(review);
  expect(ruleset('main').bypass_actors).toEqual([]);
  // A rebase would bring commits that were not reviewed one by one, and prod could go back to any of them.
  expect(rule('main', 'pull_request').allowed_merge_methods).not.toContain('rebase');
  for (const { context } of rule('main', 'required_status_checks').required_status_checks)
    expect(jobsOf('pull-request')).toHaveProperty(context);
});

it('nobody can move or delete the tag of a release', async () => {
  const programs = { jq: 'echo 1.2.3', gh: 'echo "$*"; [ "$2" != view ]' };
  const { stdout } = await runStep(release['github-release']?.steps?.at(-1), programs);
  const [, tag] = /^release create (\S+)/m.exec(stdout) ?? [];
  const [pattern] = ruleset('release-tags').conditions.ref_name.include;
  expect(matchesGlob(`refs/tags/${tag}`, pattern)).toBe(true);
});

it('the gate runs each script that tests or builds, and ends at the first failure', () => {
  expect(read('.ci/run')).toMatch(/^set -e/m);
  const { scripts } = JSON.parse(read('package.json'));
  const isChecked = /^(test|openapi|docs|client|synth)|gate$/;
  for (const name of Object.keys(scripts).filter((each) => isChecked.test(each)))
    expect(read('.ci/run')).toMatch(new RegExp(`^run npm (run )?${name}$`, 'm'));
});
