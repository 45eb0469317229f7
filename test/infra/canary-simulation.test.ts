import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';
import { prod } from '../../infra/stages.ts';
import { deployedTemplate } from '../support/stack.ts';
import { rates, releases, simulate, tableOf } from './canary-simulation.ts';

const results = simulate(deployedTemplate(prod));
const resultOf = (name: string, wantedRate: number) =>
  results
    .find(({ version }) => version.name === name)
    ?.byRate.find(({ rate }) => rate === wantedRate);

describe('the alarms of a deployment', () => {
  it.each([
    ['fails 5 %', 100, 4],
    ['fails 20 %', 10, 5],
  ])(
    'roll back every version that %s at %i requests a second within %i minutes',
    (name, rate, minutes) => {
      const result = resultOf(name, rate);
      expect(result?.takenBack).toBe(releases);
      expect(result?.longestSeconds).toBeLessThanOrEqual(60 * minutes);
    },
  );

  it.each(rates)('roll back at most one of 1,000 good versions at %i requests a second', (rate) => {
    expect(releases).toBe(1_000);
    expect(resultOf('good: fails 0.01 %', rate)?.takenBack).toBeLessThanOrEqual(1);
  });

  it('catch what infra/README.md says; `npm run canary` prints it anew', () => {
    const document = readFileSync(join(projectDirectory, 'infra/README.md'), 'utf8');
    const [, table] = /<!-- canary -->\n\n(.*?)\n\n<!-- canary -->/s.exec(document) ?? [];
    expect(table).toBe(tableOf(results));
  });
});
