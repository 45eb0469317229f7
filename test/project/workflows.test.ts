import { spawnSync } from 'node:child_process';
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
}

const jobsOf = (name: string): Readonly<Record<string, Job>> =>
  parse(readFileSync(join(projectDirectory, `.github/workflows/${name}.yml`), 'utf8')).jobs;
const release = jobsOf('release');

describe('a release', () => {
  const jobsBefore = (name: string): string[] =>
    [release[name]?.needs ?? []].flat().flatMap((need) => [need, ...jobsBefore(need)]);

  it.each(stages.map(({ name }, at) => [name, stages.slice(0, at)] as const))(
    'reaches %s after the gate and the stages before it, with the same stacks',
    (name, before) => {
      const needed = ['check', 'synthesise', ...before.map((stage) => stage.name)];
      expect(jobsBefore(name)).toEqual(expect.arrayContaining(needed));
      const stacks = '$' + '{{ needs.synthesise.outputs.stacks }}';
      expect(release[name]?.with).toMatchObject({ stage: name, stacks });
    },
  );

  it.each(['pages', 'npm'])('publishes by the job %s what production has', (name) => {
    for (const stage of stages.filter(isProduction)) {
      expect(release[name]?.needs).toContain(stage.name);
      expect(release[name]?.if).toContain(`needs.${stage.name}.outputs.deployed`);
    }
  });
});

describe('.github/protect-repository', () => {
  /** Each request to GitHub: its words, and the JSON that it sends. */
  const requests: [words: string, body: Readonly<Record<string, unknown>>][] = [];
  // In place of GitHub's CLI, whose sign-in a test can't have.
  const gh = `() { case "$2" in orgs/*) echo 7 ;; esac
    if [[ "$*" == *--input* ]]; then echo "$*"; tr -d '\\n'; echo; fi; }`;
  const { status, stdout } = spawnSync(
    join(projectDirectory, '.github', 'protect-repository'),
    ['store', 'on-call'],
    { env: { ...process.env, 'BASH_FUNC_gh%%': gh }, encoding: 'utf8' },
  );
  const lines = stdout.trim().split('\n');
  for (let at = 0; at + 1 < lines.length; at += 2)
    requests.push([lines[at] ?? '', JSON.parse(lines[at + 1] ?? '')]);
  const bodyOf = (wanted: string) =>
    requests.find(([words, body]) => words.includes(wanted) || body['name'] === wanted)?.[1];

  it.each([
    ['main', ['pull-request']],
    ['hotfix/*', []],
  ])('lets nobody change %s without a review, and requires the checks %j', (branch, checks) => {
    expect(status).toBe(0);
    const ruleset = JSON.stringify(bodyOf(`Reviewed changes of ${branch}`));
    expect(ruleset).toContain('"required_approving_review_count":1');
    const contexts = [...ruleset.matchAll(/"context":"([^"]+)"/g)].map(([, name]) => name);
    expect(contexts).toEqual(checks);
    for (const name of checks) expect(jobsOf('check')).toHaveProperty(name);
  });

  it('protects the environment of every job, that of production by the team', () => {
    const named = Object.values(release).flatMap(({ environment }) => environment ?? []);
    for (const name of [...named, ...stages.map((stage) => stage.name)])
      expect(bodyOf(`/environments/${name} `)).toMatchObject({ deployment_branch_policy: {} });
    for (const { name } of stages.filter(isProduction))
      expect(bodyOf(`/environments/${name} `)).toMatchObject({
        prevent_self_review: true,
        reviewers: [{ type: 'Team', id: 7 }],
      });
  });
});
