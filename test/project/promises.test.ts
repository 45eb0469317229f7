import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { promiseBreaks } from '../commands/promise-breaks.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

it('each test of a promise in test/README.md has code that is broken to see it fail', () => {
  const [, promises = ''] = /^## Promises$(.*?)^## /ms.exec(read('test/README.md')) ?? [];
  const links = promises.matchAll(/\]\(([\w/-]+\.(?:test|check)\.ts)\)/g);
  const promised = new Set(links.map(([, test]) => test));
  expect(new Set(promiseBreaks.map(({ test }) => test))).toEqual(promised);
});

it.each(promiseBreaks)('$promise: the text to break is once in $file', ({ file, text }) => {
  expect(read(file).split(text)).toHaveLength(2);
});
