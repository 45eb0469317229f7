import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { prod, throttleOf } from '../../infra/settings/stages.ts';
import { type TableSettings, tables } from '../../infra/settings/tables.ts';
import type { Operation } from '../../lib/operations/operation.ts';
import type { Call } from '../../lib/operations/operation-details.ts';
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

const isWrite = ({ action }: Call) => /(Put|Update|Delete|Write)Item$/.test(action);
const indexed = Object.values<TableSettings>(tables).filter(({ indexes }) => indexes.length > 0);

it.each(indexed)(
  'production takes at most 1,000 writes a second to $id, which one partition of its index takes',
  ({ id }) => {
    const callsOf = ({ name }: Operation) =>
      detailsOf(name).calls.filter(({ resource }) => resource === id);
    const writing = operations.filter((operation) => callsOf(operation).some(isWrite));
    const rates = writing.map(({ name }) => throttleOf(prod, name).ratePerSecond);
    const names = writing.map(({ name }) => name).join(', ');
    expect(
      rates.reduce((sum, rate) => sum + rate, 0),
      `Lower the throttles of ${names} in production: infra/operations.md#limits`,
    ).toBeLessThanOrEqual(1_000);
  },
);
