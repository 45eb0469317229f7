import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  goodReleaseBefore,
  recordReturnTo,
  releaseInProd,
} from '../../infra/commands/deploy/releases.ts';
import { replaceGithubCli } from '../support/github-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'animal-store-releases-'));
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(() => {
  vi.stubEnv('PATH', directory);
  vi.stubEnv('GITHUB_RUN_ID', undefined);
});

const day = (number: number) => `2026-01-0${number}T00:00:00Z`;
const ended = (conclusion: string, on: number, deploy = 'success') => ({
  conclusion,
  end: day(on),
  deploy,
});
const good = (id: number, on: number) => ({
  id,
  commit: `c${id}`,
  attempts: [ended('success', on)],
});
const released = (id: number) => expect.objectContaining({ run: `${id}`, commit: `c${id}` });
const release = (id: number, on: number) => ({
  run: `${id}`,
  commit: `c${id}`,
  end: Date.parse(day(on)),
});
/** Pretends that this run calls. */
const callFrom = (run: string) => vi.stubEnv('GITHUB_RUN_ID', run);

describe('the last good release', () => {
  it.each([
    ['that ended last, not that began last', [good(20, 3), good(30, 2), good(10, 1)], 20],
    ['on any page', [{ id: 30, commit: 'c30' }, { id: 20, commit: 'c20' }, good(10, 1)], 10],
    [
      'and not one that failed',
      [{ ...good(20, 2), attempts: [ended('failure', 2)] }, good(10, 1)],
      10,
    ],
    [
      'and not one under way',
      [{ ...good(20, 2), attempts: [{ conclusion: null, end: null }] }, good(10, 1)],
      10,
    ],
    [
      'although a later attempt of its run deployed nothing',
      [
        { ...good(20, 2), attempts: [ended('success', 2), ended('failure', 3, 'skipped')] },
        good(10, 1),
      ],
      20,
    ],
    [
      'and not one that a later attempt of its run went back from',
      [{ ...good(20, 2), attempts: [ended('success', 2), ended('failure', 3)] }, good(10, 1)],
      10,
    ],
    [
      'although GitHub no longer lists the steps of the attempt that deployed',
      [
        {
          ...good(20, 2),
          attempts: [{ ...ended('success', 2), hasSteps: false }, ended('failure', 3, 'skipped')],
        },
        good(10, 1),
      ],
      20,
    ],
    ['if there is none', [{ id: 10, commit: 'c10' }], undefined],
  ])('is found %s', (_which, runs, id) => {
    replaceGithubCli(directory, runs);
    callFrom('99');
    expect(goodReleaseBefore('99')).toEqual(id && released(id));
  });

  const [third, second, first] = [good(30, 3), good(20, 2), good(10, 1)];
  it.each([
    ['20', 10],
    ['30', 20],
    ['10', undefined],
  ])('before the run %s is %j', (run, id) => {
    replaceGithubCli(directory, [third, second, first]);
    expect(goodReleaseBefore(run)).toEqual(id && released(id));
  });

  it('is not looked for before a run that deployed nothing to prod', () => {
    const refused = { id: 40, commit: 'c40', attempts: [ended('failure', 4, 'skipped')] };
    replaceGithubCli(directory, [refused, third]);
    expect(() => goodReleaseBefore('40')).toThrow('The run 40 deployed nothing to prod.');
  });

  it('is known to a run whose own steps GitHub does not list yet', () => {
    replaceGithubCli(directory, [{ id: 40, commit: 'c40' }, third]);
    callFrom('40');
    expect(goodReleaseBefore('40')).toEqual(released(30));
  });

  it('is never one that prod went back from, until it is released again', () => {
    replaceGithubCli(directory, [third, second, first]);
    recordReturnTo(release(10, 1));
    expect(releaseInProd()).toEqual(released(10));
    expect(goodReleaseBefore('30')).toEqual(released(10));
    const again = { ...second, attempts: [...second.attempts, ended('success', 5)] };
    replaceGithubCli(directory, [third, again, first], { withdrawn: { c20: day(4), c30: day(4) } });
    expect(releaseInProd()).toEqual(released(20));
  });

  it('is not another one of the commit that has the fault', () => {
    replaceGithubCli(directory, [third, { ...second, commit: 'c30' }, first]);
    expect(goodReleaseBefore('30')).toEqual(released(10));
  });

  it('stays good, with the releases before it, if prod goes back to its commit', () => {
    replaceGithubCli(directory, [third, { ...second, commit: 'c10' }, first]);
    recordReturnTo(release(10, 1));
    expect(releaseInProd()).toMatchObject({ run: '20', commit: 'c10' });
    const calls = replaceGithubCli(directory, [third, second, first], {
      withdrawn: { c30: day(4), c20: day(4) },
    });
    recordReturnTo(release(20, 2));
    expect(calls().join()).not.toContain('/statuses/');
  });

  it('is asked for in few calls, however many releases there were', () => {
    const older = Array.from({ length: 50 }, (_, at) => ({ ...good(100 + at, 1), commit: 'old' }));
    const calls = replaceGithubCli(directory, [third, ...older]);
    expect(releaseInProd()).toEqual(released(30));
    expect(calls()).toHaveLength(3);
  });

  it('fails loudly if GitHub refuses a call, or the record of a way back', () => {
    replaceGithubCli(directory, [third, second], { mayWrite: false });
    expect(() => recordReturnTo(release(20, 2))).toThrow(/did not record that c30 is withdrawn/);
    vi.stubEnv('PATH', '/nowhere');
    expect(() => releaseInProd()).toThrow('gh');
  });
});

describe('the release in prod', () => {
  const [second, first] = [good(20, 2), good(10, 1)];
  const failed = (deploy: string, back: string) => [{ ...ended('failure', 4, deploy), back }];
  it.each([
    ['is a good one', good(30, 3).attempts, 30],
    [
      'is one whose test was refused, or that could not be undone',
      failed('success', 'failure'),
      30,
    ],
    ['is one whose job was cancelled, as AWS goes on', failed('cancelled', 'skipped'), 30],
    ['is not one that AWS rolled back', failed('failure', 'skipped'), 20],
    ['is not one that was not deployed', failed('skipped', 'skipped'), 20],
    ['is not one that was undone', failed('success', 'success'), 20],
    [
      'is not one that a later attempt undid',
      [ended('success', 3), ...failed('success', 'success')],
      20,
    ],
    [
      'is one whose later attempt AWS rolled back',
      [ended('success', 3), ...failed('failure', 'skipped')],
      30,
    ],
  ])('%s', (_which, attempts, id) => {
    replaceGithubCli(directory, [{ id: 30, commit: 'c30', attempts }, second, first]);
    expect(releaseInProd()).toEqual(released(id));
  });

  it('is the good one before a release that was undone, not a bad one between them', () => {
    const undone = { id: 30, commit: 'c30', attempts: failed('success', 'success') };
    const bad = { ...second, attempts: [{ ...ended('failure', 2), back: 'failure' }] };
    replaceGithubCli(directory, [undone, bad, first]);
    expect(releaseInProd()).toEqual(released(10));
  });

  const underWay = (status: string) => ({
    id: 30,
    commit: 'c30',
    attempts: [{ conclusion: null, end: null, status }],
  });

  it('is not known while another run deploys', () => {
    replaceGithubCli(directory, [underWay('in_progress'), second]);
    expect(() => releaseInProd()).toThrow('The run 30 is in its job prod.');
    callFrom('30');
    expect(releaseInProd()).toEqual(released(20));
  });

  // https://docs.github.com/en/actions/how-tos/deploy/configure-and-manage-deployments/review-deployments
  it('is known while another run waits for approval', () => {
    replaceGithubCli(directory, [underWay('waiting'), second]);
    expect(releaseInProd()).toEqual(released(20));
  });
});
