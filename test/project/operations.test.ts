import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { prod, throttleOf } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';

it.each(operations)(
  '$name is tested in a file of acceptance/, by plain requests and by the typed client',
  ({ name, method, path }) => {
    const file = `test/acceptance/${bundleName(name)}.test.ts`;
    const isWritten = existsSync(join(projectDirectory, file));
    const text = isWritten ? readFileSync(join(projectDirectory, file), 'utf8') : '';
    const { errors = [] } = detailsOf(name);
    const codes = errors.map(({ code }) => code);
    const needed = [`describe('${method} ${path}`, 'send(', `store.${name}(`, ...codes];
    expect(
      needed.filter((part) => !text.includes(part)),
      `Write ${file}: in describe('${method} ${path}'), call ${name} with send and with store.${name}, and expect each of its own errors`,
    ).toEqual([]);
  },
);

it('production writes at most 1,000 WCU a second to a partition of an index of the pets', () => {
  const { id, indexes } = tables.pets;
  const writes = operations.flatMap(({ name }) =>
    detailsOf(name)
      .calls.filter(({ action }) => /(Put|Update|Delete)Item/.test(action))
      .filter(({ resource }) => resource === id)
      // A write costs the same in the table and in each index.
      .map(({ units = 1 + indexes.length }) => ({ name, units: units / (1 + indexes.length) })),
  );
  const perSecond = writes.reduce(
    (sum, { name, units }) => sum + units * throttleOf(prod, name).ratePerSecond,
    0,
  );
  const names = writes.map(({ name }) => name).join(', ');
  const reason = `Lower the throttles in production of ${names}: infra/operations.md#limits`;
  expect(perSecond, reason).toBeLessThanOrEqual(1_000);
});
