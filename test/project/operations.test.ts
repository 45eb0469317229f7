import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName, functionNames } from '../../infra/settings/names.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { operations } from '../../lib/contract/operations.ts';
import type { OperationName } from '../../lib/contract/routes.ts';

describe.each(operations)('the operation $name', ({ name }) => {
  it.each([
    ['a handler', `functions/${bundleName(name)}.ts`],
    ['acceptance tests', `test/acceptance/${bundleName(name)}.test.ts`],
  ])('has %s, %s', (_what, path) => {
    expect(existsSync(join(projectDirectory, path)), `${path} is missing`).toBe(true);
  });

  it('is a method of the typed client', () => {
    // A missing method is a type error too, so that it is found without a test.
    const methods: Readonly<Record<OperationName, unknown>> = AnimalStore.prototype;
    expect(methods[name]).toBeTypeOf('function');
  });
});

it('every function of the API but unrouted has an operation', () => {
  const handlers = readdirSync(join(projectDirectory, 'functions')).filter((name) =>
    name.endsWith('.ts'),
  );
  expect(handlers.toSorted()).toEqual(
    functionNames.map((name) => `${bundleName(name)}.ts`).toSorted(),
  );
});
