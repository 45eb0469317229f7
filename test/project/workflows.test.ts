import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { projectDirectory } from '../../infra/project-directory.ts';

const directory = join(projectDirectory, '.github', 'workflows');
const { scripts } = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'));

const Permissions = z.record(z.string(), z.enum(['read', 'write', 'none']));
const Concurrency = z.object({ group: z.string(), 'cancel-in-progress': z.boolean() });
const Step = z.object({
  uses: z.optional(z.string()),
  run: z.optional(z.string()),
  with: z._default(z.record(z.string(), z.unknown()), {}),
});
const Job = z.object({
  if: z.optional(z.string()),
  needs: z.optional(z.string()),
  environment: z.optional(z.string()),
  permissions: z._default(Permissions, {}),
  steps: z.array(Step),
});
type Job = z.output<typeof Job>;
const Workflow = z.object({
  on: z.unknown(),
  permissions: Permissions,
  concurrency: Concurrency,
  jobs: z.record(z.string(), Job),
});

const read = (file: string) => {
  const text = readFileSync(join(directory, file), 'utf8');
  return { text, ...Workflow.parse(parse(text)) };
};

const workflows = Object.fromEntries(readdirSync(directory).map((file) => [file, read(file)]));
const jobs = Object.entries(workflows).flatMap(([file, { text, jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ title: `${file} ${name}`, name, job, text })),
);

const jobOf = (file: string, name: string) => {
  const job = workflows[file]?.jobs[name];
  if (!job) throw new Error(`${file} has no job ${name}`);
  return job;
};

const commandsOf = ({ steps }: Pick<Job, 'steps'>) =>
  steps.flatMap(({ run }) => run?.split('\n') ?? []);
const usesAction = ({ steps }: Job, action: string) =>
  steps.some(({ uses }) => uses?.startsWith(`${action}@`));
const assumesRole = (job: Job) => usesAction(job, 'aws-actions/configure-aws-credentials');

/** The one job of the release that runs a command. */
const releaseJob = (command: string) => {
  const found = Object.entries(workflows['release.yml']?.jobs ?? {}).filter(([, job]) =>
    commandsOf(job).some((line) => line.includes(command)),
  );
  expect(found, command).toHaveLength(1);
  const [name = '', job] = found[0] ?? [];
  return { name, ...job };
};

describe('every workflow', () => {
  it.each(Object.entries(workflows))(
    '%s may only read, unless a job says more',
    (_file, workflow) => {
      expect(workflow.permissions).toEqual({ contents: 'read' });
    },
  );

  it('pins each action by its commit, names the version beside it, and uses one version alone', () => {
    const pins = jobs.flatMap(({ job }) => job.steps.flatMap(({ uses }) => uses ?? []));
    for (const pin of pins) expect(pin).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40}$/);
    expect(new Set(pins.map((pin) => pin.split('@')[0])).size).toBe(new Set(pins).size);
    for (const { text } of jobs) {
      for (const [line] of text.matchAll(/uses: .*/g)) expect(line).toMatch(/ # v\d+\.\d+\.\d+$/);
    }
  });

  it('runs npm scripts and files that exist, and the CDK through them alone', () => {
    const commands = jobs.flatMap(({ job }) => commandsOf(job));
    const called = commands.flatMap((line) => {
      const [, script] = /\bnpm run (?:--silent )?([\w:-]+)/.exec(line) ?? [];
      return script ?? [];
    });
    expect(new Set(called)).toEqual(new Set(['acceptance', 'deploy', 'diff', 'smoke']));
    for (const script of called) expect(scripts).toHaveProperty(script);
    for (const line of commands) {
      expect(line).not.toMatch(/\bnpm (?!run |ci$)|\bnpx\b|(^|[;|&] *)cdk\b/);
      const [, file] = /^(\.[\w/.-]+)/.exec(line) ?? [];
      if (file) expect(existsSync(join(projectDirectory, file)), file).toBe(true);
    }
  });

  it('takes no variable and no secret that the README does not name', () => {
    const readme = readFileSync(join(projectDirectory, 'README.md'), 'utf8');
    const names = jobs.flatMap(({ text }) => text.match(/(?<=\b(vars|secrets)\.)\w+/g) ?? []);
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(readme).toContain(`\`${name}\``);
  });

  it.each(jobs)('$title keeps the token of the checkout out of the code it runs', ({ job }) => {
    for (const step of job.steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))) {
      expect(step.with['persist-credentials']).toBe(false);
    }
  });

  it.each(jobs)('$title takes no text of others into a script', ({ job }) => {
    for (const line of commandsOf(job)) expect(line).not.toContain('${{');
  });

  it.each(jobs)(
    '$title may get an identity of AWS if it assumes a role, and only then',
    ({ job }) => {
      expect(job.permissions['id-token'] === 'write').toBe(assumesRole(job));
    },
  );

  it.each(jobs)('$title writes to GitHub only if it runs no code of the repository', ({ job }) => {
    const written = Object.entries(job.permissions).flatMap(([permission, right]) =>
      right === 'write' && permission !== 'id-token' ? permission : [],
    );
    expect(written).toEqual(usesAction(job, 'actions/checkout') ? [] : ['pull-requests']);
  });
});

describe('a pull request', () => {
  const check = workflows['check.yml'];

  it('is checked without secrets, so that one from a fork can be', () => {
    const { if: condition, permissions, steps } = jobOf('check.yml', 'check');
    expect(check?.on).toBe('pull_request');
    expect(check?.text).not.toContain('secrets.');
    expect(condition).toBeUndefined();
    expect(permissions).toEqual({});
    expect(commandsOf({ steps })).toEqual(['.ci/run']);
  });

  it('gets a role to compare stacks with, unless it comes from a fork', () => {
    const withRole = Object.values(check?.jobs ?? {}).filter(assumesRole);
    expect(withRole.map((job) => job.if)).toEqual([
      'github.event.pull_request.head.repo.full_name == github.repository',
    ]);
    expect(withRole.flatMap(commandsOf).join()).toContain('--method=template');
  });
});

describe('a release', () => {
  it('follows each push to main, one at a time, and none is cancelled while it runs', () => {
    const release = workflows['release.yml'];
    expect(release?.on).toEqual({ push: { branches: ['main'] } });
    expect(release?.concurrency).toEqual({ group: 'release', 'cancel-in-progress': false });
  });

  it('goes from the check to staging, its acceptance tests, and prod, each only after the one before', () => {
    const check = releaseJob('.ci/run');
    const staging = releaseJob('npm run deploy -- AnimalStore-staging ');
    const acceptance = releaseJob('npm run acceptance');
    const prod = releaseJob('npm run deploy -- AnimalStore-prod ');
    expect(check.needs).toBeUndefined();
    expect(staging.needs).toBe(check.name);
    expect(acceptance.needs).toBe(staging.name);
    expect(prod.needs).toBe(acceptance.name);
    for (const { if: condition } of [staging, acceptance, prod]) expect(condition).toBeUndefined();
  });

  it('deploys each stage as its environment, so that the approval for prod can not be passed by', () => {
    expect(releaseJob('AnimalStore-staging ').environment).toBe('staging');
    expect(releaseJob('npm run acceptance').environment).toBe('staging');
    expect(releaseJob('AnimalStore-prod ').environment).toBe('prod');
  });

  it('asks prod for no more than it can answer without a trace', () => {
    expect(releaseJob('npm run smoke').name).toBe(releaseJob('AnimalStore-prod ').name);
    expect(scripts['smoke']).toMatch(/ test\/acceptance\/smoke\.test\.ts$/);
    const smoke = readFileSync(join(projectDirectory, 'test/acceptance/smoke.test.ts'), 'utf8');
    expect(smoke).not.toMatch(/\bcreate\b|method:/);
  });
});
