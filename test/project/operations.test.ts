import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { operations } from '../../lib/operations/operations.ts';

it.each(operations)(
  '$name is tested in a file of acceptance/, by plain requests and by the typed client',
  ({ name, method, path }) => {
    const file = `test/acceptance/${bundleName(name)}.test.ts`;
    const isWritten = existsSync(join(projectDirectory, file));
    const text = isWritten ? readFileSync(join(projectDirectory, file), 'utf8') : '';
    const needed = [`describe('${method} ${path}`, 'send(', `store.${name}(`];
    expect(
      needed.filter((part) => !text.includes(part)),
      `Write ${file}: in describe('${method} ${path}'), call ${name} with send and with store.${name}`,
    ).toEqual([]);
  },
);
