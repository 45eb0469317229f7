import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { isProduction, stages } from '../../infra/settings/stages.ts';
import { findProgram } from '../support/find-program.ts';

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly steps?: readonly {
    readonly run?: string;
    readonly with?: Readonly<Record<string, string>>;
  }[];
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
  });

  it.each(['pages', 'npm'])('publishes by the job %s what production has', (name) => {
    for (const stage of stages.filter(isProduction)) {
      expect(release[name]?.needs).toContain(stage.name);
      expect(release[name]?.if).toContain(`needs.${stage.name}.outputs.deployed`);
    }
  });
});

describe('.github/protect-repository', () => {
  /** Runs it with this in place of GitHub's CLI, whose sign-in a test can't have. It prints each change. */
  const gh = `() {
    case "$2" in
      'repos/{owner}/{repo}') echo "$VISIBILITY" ;;
      orgs/*/teams/*) echo 7 ;;
      orgs/*) echo "$PLAN" ;;
    esac
    [[ "$*" != *--method* ]] || echo "$*"
    [[ "$*" != *--input* ]] || { tr -d '\\n' <"\${*: -1}"; echo; }
  }`;
  const protect = (VISIBILITY: string, PLAN: string) =>
    spawnSync(join(projectDirectory, '.github', 'protect-repository'), ['store', 'on-call'], {
      env: { ...process.env, 'BASH_FUNC_gh%%': gh, VISIBILITY, PLAN },
      encoding: 'utf8',
    });
  const { status, stdout } = protect('public', 'free');
  const changes = stdout.trim().split('\n');

  it.each([
    ['main', ['pull-request']],
    ['hotfix/*', []],
  ])('lets nobody change %s without a review, and requires the checks %j', (branch, checks) => {
    expect(status).toBe(0);
    const ruleset = changes.find((line) => line.includes(`"include": ["refs/heads/${branch}"]`));
    expect(ruleset).toContain('"required_approving_review_count": 1');
    const contexts = [...`${ruleset}`.matchAll(/"context": "([^"]+)"/g)].map(([, name]) => name);
    expect(contexts).toEqual(checks);
    for (const name of checks) expect(jobsOf('check')).toHaveProperty(name);
  });

  it('protects the environment of every job, that of production by the team', () => {
    const named = Object.values(release).flatMap(({ environment }) => environment ?? []);
    const environmentOf = (name: string) =>
      changes.find((line) => line.includes(`/environments/${name} `));
    for (const name of [...named, ...stages.map((stage) => stage.name)])
      expect(environmentOf(name)).toContain('deployment_branch_policy');
    for (const { name } of stages.filter(isProduction))
      expect(environmentOf(name)).toMatch(/prevent_self_review=true .*reviewers\[]\[id]=7/);
  });

  it.each([
    ['private', 'free', 1],
    ['private', 'team', 1],
    ['private', 'unknown', 1],
    ['private', 'enterprise', 0],
    ['internal', 'enterprise', 0],
  ])(
    'changes a %s repository of the plan %s only if it has reviewers',
    (visibility, plan, code) => {
      const { status, stdout, stderr } = protect(visibility, plan);
      expect({ status, isChanged: stdout.includes('--method') }).toEqual({
        status: code,
        isChanged: code === 0,
      });
      if (code === 1)
        expect(stderr).toMatch(new RegExp(`^error: .* plan of store is ${plan}.*\n$`));
    },
  );
});

const hasJq = findProgram(['jq']) !== undefined;
if (!hasJq) console.log('LEFT OUT: .ci/create-release, which needs jq.');

describe.skipIf(!hasJq)('.ci/create-release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-release-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'client'));
  writeFileSync(join(folder, 'client', 'package.json'), '{"version":"1.1.0"}');

  // In place of GitHub's CLI. It prints what it creates.
  const gh = `() {
    case "$*" in
      *git/ref/tags/v1.1.0) [ -n "$TAGGED" ] ;;
      *commits/tags/v1.1.0*) echo "$TAGGED" ;;
      *compare/*...released*) echo "$RELATION" ;;
      *contents/*) echo '{"info":{"version":"'"$VERSION"'"}}' ;;
      'release view v1.1.0') [ -n "$HAS_RELEASE" ] ;;
      *git/refs*|'release create'*) echo "$*" ;;
      *) return 1 ;;
    esac
  }`;
  const tag =
    /^api --silent repos\/store\/pets\/git\/refs -f ref=refs\/tags\/v1.1.0 -f sha=released$/m;
  const release = /^release create v1.1.0 /m;
  const onTag = { TAGGED: 'tagged', RELATION: 'ahead', VERSION: '1.1.0', HAS_RELEASE: '' };

  it.each([
    ['no tag', { ...onTag, TAGGED: '' }, [0, true, true]],
    ['its tag', { ...onTag, TAGGED: 'released' }, [0, false, true]],
    ['the tag of an earlier run that failed', onTag, [0, false, true]],
    ['a release of this version', { ...onTag, HAS_RELEASE: 'yes' }, [0, false, false]],
    ['a tag on another branch', { ...onTag, RELATION: 'diverged' }, [1, false, false]],
    ['a tag on a later commit', { ...onTag, RELATION: 'behind' }, [1, false, false]],
    ['a tag on another version', { ...onTag, VERSION: '1.0.0' }, [1, false, false]],
    [
      'a tag on another version, and a release',
      { ...onTag, VERSION: '1.0.0', HAS_RELEASE: 'yes' },
      [1, false, false],
    ],
  ])('with %s ends, tags and releases: %j %j', (_found, variables, expected) => {
    const { status, stdout, stderr } = spawnSync(
      join(projectDirectory, '.ci', 'create-release'),
      [folder],
      {
        env: {
          ...{ PATH: process.env['PATH'], 'BASH_FUNC_gh%%': gh },
          ...{ GH_REPO: 'store/pets', GITHUB_SHA: 'released', ...variables },
        },
        encoding: 'utf8',
      },
    );
    expect([status, tag.test(stdout), release.test(stdout)]).toEqual(expected);
    if (status === 1) expect(stderr).toMatch(/^::error::The tag v1.1.0 is on the commit tagged/m);
  });
});
