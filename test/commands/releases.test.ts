import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { lastRelease, recordReturnTo } from '../../infra/commands/deploy/releases.ts';
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
const released = (id: number) => ({ run: `${id}`, commit: `c${id}` });

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
    ['if there is none', [{ id: 10, commit: 'c10' }], undefined],
  ])('is found %s', (_which, runs, id) => {
    replaceGithubCli(directory, runs);
    expect(lastRelease()).toEqual(id && released(id));
  });

  const [third, second, first] = [good(30, 3), good(20, 2), good(10, 1)];
  it.each([
    ['20', 10],
    ['30', 20],
    ['10', undefined],
  ])('before the run %s is %j', (run, id) => {
    replaceGithubCli(directory, [third, second, first]);
    expect(lastRelease(run)).toEqual(id && released(id));
  });

  it('is not looked for before a run that deployed nothing to prod', () => {
    const refused = { id: 40, commit: 'c40', attempts: [ended('failure', 4, 'skipped')] };
    replaceGithubCli(directory, [refused, third]);
    expect(() => lastRelease('40')).toThrow('The run 40 deployed nothing to prod.');
  });

  it('is known to a run whose own steps GitHub does not list yet', () => {
    replaceGithubCli(directory, [{ id: 40, commit: 'c40' }, third]);
    vi.stubEnv('GITHUB_RUN_ID', '40');
    expect(lastRelease('40')).toEqual(released(30));
  });

  it('is never one that prod went back from, until it is released again', () => {
    replaceGithubCli(directory, [third, second, first]);
    recordReturnTo(released(10));
    expect(lastRelease()).toEqual(released(10));
    expect(lastRelease('30')).toEqual(released(10));
    const again = { ...second, attempts: [...second.attempts, ended('success', 5)] };
    replaceGithubCli(directory, [third, again, first], { withdrawn: { c20: day(4), c30: day(4) } });
    expect(lastRelease()).toEqual(released(20));
  });

  it('is asked for in few calls, however many releases there were', () => {
    const older = Array.from({ length: 50 }, (_, at) => ({ ...good(100 + at, 1), commit: 'old' }));
    const calls = replaceGithubCli(directory, [third, ...older]);
    expect(lastRelease()).toEqual(released(30));
    expect(calls()).toHaveLength(3);
  });

  it('fails loudly if GitHub refuses a call, or the record of a way back', () => {
    replaceGithubCli(directory, [third, second], { mayWrite: false });
    expect(() => recordReturnTo(released(20))).toThrow(/did not record that c30 is withdrawn/);
    vi.stubEnv('PATH', '/nowhere');
    expect(() => lastRelease()).toThrow('gh');
  });
});
