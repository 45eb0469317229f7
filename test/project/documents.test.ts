import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prices } from '../../infra/cost/prices.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { errors } from '../../lib/contract/errors.ts';
import { summaryTable } from '../bench/report.ts';
import { risingKey, simulateSplits, spreadKey } from '../bench/split-for-heat.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const readme = read('README.md');
const gate = read('.ci/run');
const { scripts } = JSON.parse(read('package.json'));

const commands = [...readme.matchAll(/^```sh\n(.*?)\n```$/gms)].flatMap(
  ([, block]) => block?.split('\n') ?? [],
);

describe('README', () => {
  it.each(commands.filter((command) => !command.startsWith('curl ')))(
    'shows a command that the gate runs to the letter, or whose script exists: %s',
    (command) => {
      const script = /npm run ([\w:]+)/.exec(command)?.[1];
      if (script === undefined) expect(gate).toContain(`'${command}'`);
      else expect(scripts).toHaveProperty(script);
    },
  );

  it('gives each curl line on a line of its own, for the gate runs it', () => {
    expect(commands.filter((command) => command.startsWith('curl ')).length).toBeGreaterThan(2);
    expect(gate).toContain("grep '^curl ' README.md");
  });

  it('lists exactly the errors that the code base has', () => {
    const listed = [...readme.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
      Number(status),
      code,
    ]);
    const known = [
      errors.invalidRequest(''),
      errors.unauthorized(),
      errors.notFound(),
      errors.methodNotAllowed(['GET']),
      errors.endpointRemoved('GET /pets'),
      errors.payloadTooLarge(),
      errors.unsupportedMediaType(),
      errors.idempotencyKeyReused(),
      errors.tooManyRequests(),
      errors.internalError(),
      errors.badGateway(),
      errors.serviceUnavailable(),
      errors.gatewayTimeout(),
    ];
    expect(known).toHaveLength(Object.keys(errors).length);
    expect(listed).toEqual(known.map(({ status, code }) => [status, code]));
  });

  it('shows the summary of the last benchmark', () => {
    const summary = summaryTable(JSON.parse(read('test/bench/results.json')));
    expect(readme).toContain(`<!-- bench -->\n${summary}\n<!-- /bench -->`);
  });

  it('shows what a million requests cost in DynamoDB', () => {
    const rows = [...readme.matchAll(/\| ([\d.]+) (RCU|WCU)[^|]*\| \$([\d.]+)/g)];
    expect(rows.length).toBeGreaterThan(3);
    for (const [row, units, kind, price] of rows) {
      const { usd } = kind === 'RCU' ? prices.tableRead : prices.tableWrite;
      expect(price, row).toBe((Number(units) * usd).toFixed(2));
    }
  });

  it('shows what the simulated index takes', () => {
    const row = (label: string, key: (write: number) => number) => {
      const writes = simulateSplits(key, 6).map((step) =>
        step.writesPerSecond.toLocaleString('en'),
      );
      return `| ${[label, ...writes].join(' | ')} |`;
    };
    expect(readme).toContain(row('random ids', spreadKey));
    expect(readme).toContain(row('rising ids, such as a counter or a time', risingKey));
  });

  it('names only tests that exist', () => {
    const named = [...readme.matchAll(/`(test\/[\w./-]+\.test\.ts)`(?:: ([^`|,]+?))?(?=,| \|)/g)];
    expect(named.length).toBeGreaterThan(5);
    for (const [, path = '', title] of named) {
      expect(existsSync(join(projectDirectory, path)), path).toBe(true);
      if (title) expect(read(path)).toContain(title);
    }
  });
});
