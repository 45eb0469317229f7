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

it('a change resets no field that its request leaves out', () => {
  for (const { name, input } of operations.filter(({ method }) => /PUT|PATCH/.test(method))) {
    const defaults = Object.entries(input.body?.entries ?? {}).flatMap(([field, entry]) =>
      'default' in entry && entry.default !== undefined ? [field] : [],
    );
    const reason = `The body of ${name} has no defaults: instead of NewPet.entries.status, take v.optional(NewPet.entries.status.wrapped)`;
    expect(defaults, reason).toEqual([]);
  }
});

it('production takes at most 1,000 writes of pets a second, as one partition of their index does', () => {
  const writing = operations.filter(({ name }) =>
    detailsOf(name).calls.some(
      ({ action, resource }) =>
        resource === tables.pets.id && /(Put|Update|Delete)Item/.test(action),
    ),
  );
  const perSecond = writing.reduce(
    (sum, { name }) => sum + throttleOf(prod, name).ratePerSecond,
    0,
  );
  const names = writing.map(({ name }) => name).join(', ');
  const reason = `Lower the throttles in production of ${names}: infra/operations.md#limits`;
  expect(perSecond, reason).toBeLessThanOrEqual(1_000);
});
