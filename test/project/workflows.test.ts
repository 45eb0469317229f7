import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { isProduction, stages } from '../../infra/settings/stages.ts';
import { addCommit, gitIn } from '../support/git-in.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly concurrency?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly steps?: readonly {
    readonly if?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, string>>;
  }[];
}

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');
const jobsOf = (name: string): Readonly<Record<string, Job>> =>
  parse(read(`.github/workflows/${name}.yml`)).jobs;
const release = jobsOf('release');
const expression = (inner: string) => `$\{{ ${inner} }}`;

describe('a release', () => {
  const jobsBefore = (name: string): string[] =>
    [release[name]?.needs ?? []].flat().flatMap((need) => [need, ...jobsBefore(need)]);

  it.each(stages.map(({ name }, at) => [name, stages.slice(0, at)] as const))(
    'reaches %s after the gate and the stages before it, with the same stacks',
    (name, before) => {
      const needed = ['check', 'synthesise', ...before.map((stage) => stage.name)];
      expect(jobsBefore(name)).toEqual(expect.arrayContaining(needed));
      const stacks = expression('needs.synthesise.outputs.stacks');
      expect(release[name]?.with).toMatchObject({ stage: name, stacks });
    },
  );

  it('tests each stage before production, in a group of its own, and moves all traffic at once only in a hotfix', () => {
    expect(new Set(stages.map(({ name }) => release[name]?.concurrency)).size).toBe(stages.length);
    for (const stage of stages) {
      const { concurrency, with: given } = release[stage.name] ?? {};
      expect(concurrency).toMatch(new RegExp(`${stage.name}.*github.event_name`));
      expect(given?.['all-at-once']).toBe(expression("github.event_name == 'workflow_dispatch'"));
      if (!isProduction(stage)) expect(`${given?.['tests']}`).toContain("'push' && 'acceptance'");
    }
  });

  it('deploys the stacks that a stage is given, and tests the address of the stage', () => {
    const { deploy, test } = jobsOf('stage');
    const stacks = expression('inputs.stacks');
    const given = deploy?.steps?.find((step) => step.with?.['artifact-ids'] === stacks)?.with;
    const commands = deploy?.steps?.map(({ run }) => run).join();
    expect(commands).toContain(`--app ${given?.['path']} `);
    const options = deploy?.steps?.map(({ env }) => env?.['ALL_AT_ONCE']);
    expect(options).toContain(expression("inputs.all-at-once && '--all-at-once' || ''"));
    const tested = test?.steps?.map(({ env }) => env?.['BASE_URL']);
    expect(tested).toContain(expression('needs.deploy.outputs.base-address'));
    expect(test?.if).toBe("inputs.tests != ''");
  });

  it.each(
    stages.flatMap(({ name }, at) => {
      const before = stages[at - 1]?.name;
      return before === undefined ? [] : [[name, before] as const];
    }),
  )(
    'reaches %s also if %s has no tests, but not if its deployment or tests failed',
    (name, before) => {
      // Without a condition of its own, GitHub skips a job that follows a skipped one at any distance.
      const condition = release[name]?.if;
      for (const part of [
        '!cancelled()',
        `needs.${before}.outputs.deployed`,
        "!contains(needs.*.result, 'failure')",
        "!contains(needs.*.result, 'cancelled')",
      ])
        expect(condition).toContain(part);
    },
  );

  it('publishes what a job has built that runs no test', () => {
    const uses = Object.values(release).flatMap(({ steps = [] }) => steps);
    const artifacts = uses.flatMap((step) => step.with?.['artifact-ids'] ?? []);
    expect(artifacts.length).toBeGreaterThan(0);
    for (const id of artifacts) expect(id).toContain('needs.synthesise.outputs.');
    const building = release['synthesise']?.steps?.filter(
      (step) => step.if !== 'inputs.go-back-to',
    );
    for (const command of building?.flatMap(({ run }) => run ?? []) ?? [])
      expect(command).toMatch(/^npm run (synth|client|docs)\b/);
  });

  it.each(['pages', 'npm'])('publishes by the job %s what production has', (name) => {
    for (const stage of stages.filter(isProduction)) {
      expect(release[name]?.needs).toContain(stage.name);
      expect(release[name]?.if).toContain(`needs.${stage.name}.outputs.deployed`);
    }
  });
});

describe('going back to an earlier commit', () => {
  const commit = expression('inputs.go-back-to');
  const isNone = expression('!inputs.go-back-to');

  it('builds only stacks, and deploys them to production with --revert, without the gate', () => {
    const { check, synthesise, pages, npm } = release;
    for (const job of [pages, npm]) expect(job?.if).toContain("github.event_name == 'push'");
    expect(check?.if).toBe(isNone);
    const steps = synthesise?.steps?.filter((step) => step.if !== isNone) ?? [];
    expect(steps.flatMap(({ run = '' }) => run.match(/npm run \w+/) ?? [])).toEqual([
      'npm run synth',
    ]);
    for (const stage of stages) {
      const job = release[stage.name];
      const condition = isProduction(stage) ? '(inputs.go-back-to || ' : '&& !inputs.go-back-to';
      expect(job?.if).toContain(condition);
      if (!isProduction(stage)) continue;
      expect(job?.with?.['go-back-to']).toBe(commit);
      expect(job?.concurrency, 'a hotfix would replace it').toContain("inputs.go-back-to && 'go-");
    }
    const [checkout, ...others] = jobsOf('stage')['deploy']?.steps ?? [];
    expect(checkout?.with?.['ref']).toBe(commit);
    const deploying = others.find(({ run }) => run?.includes('npm run deploy'));
    expect(deploying?.env?.['REVERT']).toBe(expression("inputs.go-back-to && '--revert' || ''"));
    expect(deploying?.run).toMatch(/npm run deploy -- .* \$\{REVERT:\+"\$REVERT"\} --yes/);
  });

  it('runs nothing of a commit that nobody reviewed for main', async () => {
    const [checkout, choose] = release['synthesise']?.steps ?? [];
    expect(checkout?.with).toMatchObject({ 'fetch-depth': 0 });
    expect(choose?.env).toEqual({ COMMIT: commit });

    // What actions/checkout fetches into a clone.
    const directory = await temporaryFolder();
    const git = gitIn(directory);
    const add = (message: string) => addCommit(git, message);
    git('init', '--quiet', '--initial-branch', 'main');
    const first = add('first');
    git('switch', '--quiet', '--create', 'hotfix/a');
    const [middle, hotfix] = [add('middle'), add('hotfix')];
    git('switch', '--quiet', 'main');
    const second = add('second');
    git('merge', '--quiet', '--no-ff', 'hotfix/a');
    const merge = git('rev-parse', 'HEAD');
    git('update-ref', 'refs/remotes/origin/main', merge);
    const other = add('of another branch, and of a tag');
    git('update-ref', 'refs/remotes/origin/other', other);
    const pattern = `${first[0]}.${first.slice(2)}`;
    for (const tag of ['v1', 'origin/main', pattern]) git('tag', tag);

    const run = (COMMIT: string) => {
      git('switch', '--quiet', '--detach', merge);
      const env = { PATH: process.env['PATH'], COMMIT };
      const { status } = spawnSync('bash', ['-e', '-c', `${choose?.run}`], { cwd: directory, env });
      return { isAccepted: status === 0, commit: git('rev-parse', 'HEAD') };
    };
    for (const accepted of [first, second, hotfix, merge])
      expect(run(accepted)).toEqual({ isAccepted: true, commit: accepted });
    const command = `${first}$(git switch --detach ${second})`;
    for (const refused of [middle, other, 'main', 'v1', first.slice(0, 12), pattern, command])
      expect(run(refused), refused).toEqual({ isAccepted: false, commit: merge });
  });
});

it.each([
  ['pull-request', 'pull-request'],
  ['release', 'check'],
  ['stage', 'deploy'],
])('the workflow %s gives the job %s, which compares commits, their history', (workflow, job) => {
  expect(jobsOf(workflow)[job]?.steps?.[0]?.with).toMatchObject({ 'fetch-depth': 0 });
});

it('an issue is opened after each night that did not succeed', () => {
  expect(jobsOf('nightly')['issue']?.if).toBe("always() && needs.soak.result != 'success'");
});

it.each(readdirSync(join(projectDirectory, '.github/rulesets')))('%s is in force', (file) => {
  const { enforcement, conditions } = JSON.parse(read(`.github/rulesets/${file}`));
  expect(enforcement).toBe('active');
  expect(conditions.ref_name.include).not.toEqual([]);
});

// With a rebase, main would get commits that nobody reviewed alone, and prod could go back to one of them.
const onMain = { allowed_merge_methods: expect.not.arrayContaining(['rebase']) };

it.each([
  ['main', onMain],
  ['hotfix', {}],
])('a change of %s needs the review of another person', (name, merging) => {
  const { rules } = JSON.parse(read(`.github/rulesets/${name}.json`));
  const review = { required_approving_review_count: 1, require_last_push_approval: true };
  const parameters = expect.objectContaining({ ...review, ...merging });
  expect(rules).toContainEqual({ type: 'pull_request', parameters });
});

it('main requires the job of a pull request', () => {
  const contexts = [...read('.github/rulesets/main.json').matchAll(/"context": "([^"]+)"/g)];
  expect(contexts.length).toBeGreaterThan(0);
  for (const [, name] of contexts) expect(jobsOf('pull-request')).toHaveProperty(`${name}`);
});

it('every pull request and release passes the gate, which runs each script that tests or builds', () => {
  for (const job of [jobsOf('pull-request')['pull-request'], release['check']])
    expect(job?.steps?.map(({ run }) => run)).toContain('.ci/run');
  expect(read('.ci/run'), 'It goes on after a failure').toMatch(/^set -e/m);
  const { scripts } = JSON.parse(read('package.json'));
  const isChecked = /^(test|openapi|docs|client|synth)|gate$/;
  for (const name of Object.keys(scripts).filter((each) => isChecked.test(each)))
    expect(read('.ci/run')).toMatch(new RegExp(`^run npm (run )?${name}$`, 'm'));
  const ofTest = ['npm run lint:format', 'npm run lint:imports', 'tsc'];
  expect(scripts.test.split(' && ')).toEqual(expect.arrayContaining(ofTest));
});
