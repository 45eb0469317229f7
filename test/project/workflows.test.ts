import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { isProduction, stages } from '../../infra/settings/stages.ts';

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly steps?: readonly {
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, string>>;
  }[];
}

const jobsOf = (name: string): Readonly<Record<string, Job>> =>
  parse(readFileSync(join(projectDirectory, `.github/workflows/${name}.yml`), 'utf8')).jobs;
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

  it('deploys the stacks that a stage is given, and tests the address of the stage', () => {
    const { deploy, test } = jobsOf('stage');
    const stacks = expression('inputs.stacks');
    const given = deploy?.steps?.find((step) => step.with?.['artifact-ids'] === stacks)?.with;
    const commands = deploy?.steps?.map(({ run }) => run).join();
    expect(commands).toContain(`--app ${given?.['path']} `);
    const tested = test?.steps?.map(({ env }) => env?.['BASE_URL']);
    expect(tested).toContain(expression('needs.deploy.outputs.base-address'));
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
    const commands = release['synthesise']?.steps?.flatMap(({ run }) => run ?? []);
    for (const command of commands ?? []) expect(command).toMatch(/^npm run (synth|client|docs)\b/);
    expect(commands, 'nothing looks for the code caches').toContainEqual(
      expect.stringMatching(/synth && compgen -G .*cache/),
    );
  });

  it.each(['pages', 'npm'])('publishes by the job %s what production has', (name) => {
    for (const stage of stages.filter(isProduction)) {
      expect(release[name]?.needs).toContain(stage.name);
      expect(release[name]?.if).toContain(`needs.${stage.name}.outputs.deployed`);
    }
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

it('main requires the job of a pull request, and the review of another person', () => {
  const file = join(projectDirectory, '.github/rulesets/main.json');
  const contexts = [...readFileSync(file, 'utf8').matchAll(/"context": "([^"]+)"/g)];
  expect(contexts.length).toBeGreaterThan(0);
  for (const [, name] of contexts) expect(jobsOf('pull-request')).toHaveProperty(`${name}`);
});
