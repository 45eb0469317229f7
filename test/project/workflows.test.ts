import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { projectDirectory } from '../../infra/project-directory.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const Job = z.object({
  if: z.optional(z.string()),
  needs: z.optional(z.string()),
  environment: z.optional(z.string()),
  permissions: z._default(z.record(z.string(), z.string()), {}),
  steps: z.array(
    z.object({
      if: z.optional(z.string()),
      uses: z._default(z.string(), ''),
      run: z._default(z.string(), ''),
    }),
  ),
});
type Job = z.output<typeof Job>;
const Workflow = z.object({
  on: z.unknown(),
  permissions: z.unknown(),
  concurrency: z.unknown(),
  jobs: z.record(z.string(), Job),
});

const workflow = (name: string) => Workflow.parse(parse(read(`.github/workflows/${name}.yml`)));
const check = workflow('check');
const release = workflow('release');
const workflows = [check, release, workflow('nightly'), workflow('codeql')];
const jobs = workflows.flatMap((each) => Object.entries(each.jobs));

const jobOf = ({ jobs }: typeof check, name: string): Job => {
  const job = jobs[name];
  if (!job) throw new Error(`There is no job ${name}`);
  return job;
};
const commandsOf = ({ steps }: Job) => steps.map(({ run }) => run).join('\n');
const uses = ({ steps }: Job, action: string) =>
  steps.some((step) => step.uses.startsWith(`${action}@`));

// actionlint and zizmor check the rest: `.ci/check-workflows`.
describe('every job', () => {
  it.each(jobs)('%s gets an identity only to assume a role or to publish', (_name, job) => {
    const actions = ['aws-actions/configure-aws-credentials', 'actions/deploy-pages'];
    const publishes = commandsOf(job).includes('npm publish --provenance --access public');
    const needsIdentity = publishes || actions.some((action) => uses(job, action));
    expect(job.permissions['id-token'] === 'write').toBe(needsIdentity);
  });

  it.each(jobs)('%s runs no code of the repository if it writes to GitHub', (_name, job) => {
    const writes = Object.entries(job.permissions).filter(
      ([permission, right]) => right === 'write' && permission !== 'id-token',
    );
    if (writes.length > 0 && uses(job, 'actions/checkout')) expect(commandsOf(job).trim()).toBe('');
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
    const { if: condition, permissions, steps } = jobOf(check, 'check');
    expect(check.on).toBe('pull_request');
    expect(read('.github/workflows/check.yml')).not.toContain('secrets.');
    expect({ condition, permissions }).toEqual({ condition: undefined, permissions: {} });
    expect(steps.at(-1)?.run).toBe('.ci/run');
  });

  it('is compared with what is deployed as a protected environment, by templates only, and not from a fork', () => {
    const diff = jobOf(check, 'diff');
    expect(diff.if).toBe('github.event.pull_request.head.repo.full_name == github.repository');
    expect(diff.environment).toBe('diff');
    const commands = commandsOf(diff);
    expect(commands.match(/\baws .*? .*? /g)).toEqual(['aws cloudformation get-template ']);
    expect(commands).toMatch(/npm run --silent diff -- .* --template /);
  });
});

describe('a release', () => {
  // What a hotfix publishes waits for its merge: a branch of its own may not use these environments.
  const onMain = "github.ref == 'refs/heads/main'";
  const directory = mkdtempSync(join(tmpdir(), 'animal-store-release-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  /** Runs a script as GitHub does. */
  const bash = (script: string) =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: directory,
      env: { ...process.env, RUNNER_TEMP: directory },
      encoding: 'utf8',
    });

  it('follows each push to main, one at a time; a hotfix, by hand, waits for none', () => {
    expect(release.on).toEqual({ push: { branches: ['main'] }, workflow_dispatch: null });
    expect(release.concurrency).toEqual({
      group: expect.stringContaining("== 'workflow_dispatch' && 'hotfix' || 'release' }}"),
      'cancel-in-progress': false,
    });
  });

  it.each([
    ['check', undefined, undefined, undefined, '.ci/run'],
    ['staging', 'check', 'staging', undefined, 'npm run deploy -- AnimalStore-staging '],
    ['acceptance', 'staging', 'staging', undefined, 'npm run acceptance'],
    ['prod', 'acceptance', 'prod', undefined, 'npm run deploy -- AnimalStore-prod '],
    ['pages', 'prod', 'github-pages', onMain, ''],
    ['npm', 'prod', 'npm', onMain, 'npm publish '],
    ['github-release', 'npm', undefined, undefined, 'gh release create "$tag" '],
  ])('runs %s after %s, as the environment %s', (name, needs, environment, condition, command) => {
    const job = jobOf(release, name);
    expect([job.needs, job.environment, job.if]).toEqual([needs, environment, condition]);
    expect(commandsOf(job)).toContain(command);
  });

  it.each(['staging', 'prod'])(
    'deploys %s as npm run deploy does, which checks the changes',
    (name) => {
      expect(commandsOf(jobOf(release, name)).match(/npm run deploy.*/g)).toEqual([
        'npm run deploy -- "AnimalStore-account-$ACCOUNT-$AWS_REGION" --require-approval never',
        `npm run deploy -- AnimalStore-${name} --require-approval never --outputs-file "$OUTPUTS"`,
      ]);
    },
  );

  it('is refused without the commit that was released last, such as a hotfix', () => {
    const { run = '' } =
      jobOf(release, 'prod').steps.find(({ run }) => run.includes('merge-base')) ?? {};
    bash(`git init --quiet --initial-branch main
      export GIT_{AUTHOR,COMMITTER}_{NAME,EMAIL}=test
      commit() { git commit --quiet --allow-empty --message "$1"; }
      commit first
      git switch --quiet --create hotfix && commit fix
      git switch --quiet main && commit second`);
    // Run 2 has not reached prod.
    const releaseAfter = (commit: string) =>
      bash(`gh() { case $2 in list) echo 2 1 ;; view) [ $3 = 2 ] || git rev-parse ${commit} ;; esac; }
        ${run}`);
    expect(bash(`gh() { true; }\n${run}`).status).toBe(0);
    expect(releaseAfter('main~').status).toBe(0);
    const refused = releaseAfter('hotfix');
    expect(run).toContain('any(.jobs[]; .name == "prod" and .conclusion == "success")');
    expect(refused.stdout).toMatch(/^::error::This release would revert \w{40}, /);
    expect(refused.status).toBe(1);
  });

  it('puts the versions before back in service when the smoke test of prod fails', () => {
    const { steps } = jobOf(release, 'prod');
    const [note, deploy, smoke, back] = [
      'aws lambda get-alias',
      'npm run deploy',
      'npm run smoke',
      'aws lambda update-alias',
    ].map((command) => steps.findIndex(({ run }) => run.includes(command)));
    expect(note).toBeGreaterThan(0);
    expect([deploy, smoke, back]).toEqual([(note ?? 0) + 1, (note ?? 0) + 2, (note ?? 0) + 3]);
    expect(steps.at(-1)?.if).toBe("failure() && steps.smoke.outcome == 'failure'");
    const runStep = (step: number | undefined, answers: string) =>
      bash(`aws() { case $2 in ${answers} esac; }\n${steps[step ?? -1]?.run}`);
    const withError = (text: string) =>
      runStep(note, `list-stack-resources) echo "${text}" >&2; false ;;`).status;
    expect(withError('Stack with id AnimalStore-prod does not exist')).toBe(0);
    expect(withError('AccessDenied')).toBe(1);
    const aliases = 'echo arn:lambda:list-pets:live arn:lambda:get-pet:live';
    runStep(note, `list-stack-resources) ${aliases} ;; get-alias) echo "of-$4" ;;`);
    const { stdout, status } = runStep(
      back,
      `update-alias) echo "$4 $8"; [ $4 = arn:lambda:get-pet ] ;;`,
    );
    expect(stdout).toBe(
      'arn:lambda:list-pets of-arn:lambda:list-pets\narn:lambda:get-pet of-arn:lambda:get-pet\n',
    );
    expect(status).toBe(1);
    expect(read('infra/runbook.sh')).toContain('lambda update-alias');
  });

  it('sends prod only requests that leave no trace', () => {
    expect(commandsOf(jobOf(release, 'prod'))).toContain('npm run smoke');
    expect(read('test/acceptance/smoke.test.ts')).not.toMatch(/\bcreate\b|method:/);
  });
});
