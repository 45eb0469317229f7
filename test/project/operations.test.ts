import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { prod, throttleOf } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { NewPet, petStatuses } from '../../lib/contract/pet.ts';
import { definition as createPet } from '../../lib/operations/create-pet.ts';
import { definition as getPet } from '../../lib/operations/get-pet.ts';
import { definition as listPets } from '../../lib/operations/list-pets.ts';
import { noInput, type Operation, takesIdempotencyKey } from '../../lib/operations/operation.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';

const isNewPetStatus = (status: string) => v.is(NewPet.entries.status, status);

/** Returns the rules that an operation breaks. */
const rulesBrokenBy = (operation: Operation, hasNextPage: boolean) => {
  const { method, path, input, response } = operation;
  const fields = input.body?.entries ?? {};
  const status = path.startsWith('/pets') && fields['status'];
  const isBroken = {
    'A POST takes an Idempotency-Key, because clients repeat it when its response is lost':
      method === 'POST' && !takesIdempotencyKey(operation),
    'The body of a change has no defaults, which would reset what a request leaves out: take NewPet.entries.status.wrapped':
      method !== 'POST' && Object.values(fields).some((field) => v.getDefault(field) !== undefined),
    'A body about pets accepts the statuses of NewPet, which are those that every running version can read':
      status &&
      [...petStatuses, 'lost'].some((each) => v.is(status, each) !== isNewPetStatus(each)),
    'Each parameter in the path has a schema in the input': path
      .match(/(?<={)\w+/g)
      ?.some((name) => !(name in input.path.entries)),
    'A list has a nextPage in its example, because without pages it outgrows a response':
      response?.type === 'array' && !hasNextPage,
  };
  return Object.entries(isBroken).flatMap(([rule, broken]) => (broken ? [rule] : []));
};

it.each(operations)('$name breaks no rule', (operation) => {
  const { nextPage } = detailsOf(operation.name).example;
  const file = `lib/operations/${bundleName(operation.name)}.ts`;
  expect(rulesBrokenBy(operation, nextPage !== undefined), `Correct ${file}`).toEqual([]);
});

it.each<[words: string, wrong: Operation]>([
  ['takes an Idempotency-Key', { ...createPet, input: { ...noInput, body: NewPet } }],
  ['has no defaults', { ...createPet, method: 'PATCH' }],
  [
    'accepts the statuses of NewPet',
    { ...createPet, input: { ...createPet.input, body: v.object({ status: v.string() }) } },
  ],
  ['parameter in the path', { ...getPet, input: noInput }],
  ['has a nextPage', listPets],
])('a wrong operation breaks a rule: %s', (words, wrong) => {
  expect(rulesBrokenBy(wrong, false)).toContainEqual(expect.stringContaining(words));
});

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
