import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { awsRecordText } from '../../infra/commands/facts/aws-record.ts';
import { deploymentObservations, observationsWith } from '../observations/observations.ts';
import { timesIn } from '../observations/write-record.ts';

const names = [...Object.keys(observationsWith('pets_test_1')), ...deploymentObservations];

it('test/README.md names each observation of AWS', () => {
  const readme = readFileSync(join(projectDirectory, 'test/README.md'), 'utf8');
  const [, list = ''] = readme.split('no test asserts it.');
  const named = [...list.matchAll(/`([a-z\d]+(?:-[a-z\d]+)+)`/g)].map(([, name]) => name);
  expect(named.filter((name) => name !== 'x-amz-apigw-id').toSorted()).toEqual(names.toSorted());
});

it('each comment about something unverified names its observation', () => {
  const files = ['infra', 'lib', 'functions', 'test'].flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: projectDirectory }).filter(
      (path) => !/node_modules|observations.test/.test(path),
    ),
  );
  const found = files.flatMap((path) => {
    const text = readFileSync(join(projectDirectory, path), 'utf8');
    return [...text.matchAll(/unverified\b.{0,240}/gis)].map(([said]) => ({ path, said }));
  });
  expect(found.length).toBeGreaterThan(20);
  // A list of them, and the times that each run records.
  const known = [...names, 'times', 'infra/local/aws-behaviour.md'];
  const unnamed = found.filter(({ said }) => !known.some((name) => said.includes(`\`${name}\``)));
  expect(unnamed.filter(({ said }) => !said.includes('with its observation'))).toEqual([]);
});

const report = (id: string, init = '') =>
  `REPORT RequestId: ${id}\tDuration: 4.00 ms\tBilled Duration: 4 ms\tMemory Size: 1024 MB\tMax Memory Used: 90 MB\t${init}\n`;
const line = (lambdaRequestId: string, coldStart: boolean, durationMs: number) =>
  JSON.stringify({ operation: 'getPet', coldStart, durationMs, lambdaRequestId });

it('a record has the initialisation, the first and the warm requests of each operation', () => {
  const messages = [
    line('a', true, 30),
    report('a', 'Init Duration: 150.25 ms\t'),
    ...[4, 8, 6].flatMap((ms) => [line(`w${ms}`, false, ms), report(`w${ms}`)]),
    'INIT_START Runtime Version: nodejs:24',
  ];
  const times = timesIn(messages);
  expect(times).toEqual({
    getPet: {
      initMs: { count: 1, p50: 150.25, p99: 150.25 },
      firstMs: { count: 1, p50: 30, p99: 30 },
      warmMs: { count: 3, p50: 6, p99: 8 },
      memoryMiB: { count: 4, p50: 90, p99: 90 },
    },
  });
  expect(awsRecordText(JSON.stringify({ date: '2026-11-22T20:00:00Z', times }))).toContain(
    '\n| `getPet` | 150.25, 150.25 (1) | 30, 30 (1) | 6, 8 (3) | 90, 90 (4) |',
  );
});
