import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

const maxColumns = 110;
const comment = /(?:^|\s)(?:\/\/|\/?\*+|#)\s/;
const onlyUrl = /^\s*(?:\/\/|\*|#) https?:\/\/\S+$/;

/** Returns the place of each comment line that is too long. A URL can't be wrapped. */
const longCommentsIn = (file: string, text: string): string[] =>
  text.split('\n').flatMap((line, index) => {
    const isLong = line.length > maxColumns && comment.test(line) && !onlyUrl.test(line);
    return isLong ? [`${file}:${index + 1}`] : [];
  });

it('comments keep to 110 columns, except for a URL on a line of its own', () => {
  const words = 'word '.repeat(25);
  const url = `https://example.com/${'a'.repeat(110)}`;
  const example = [
    `// ${words}`,
    `const a = 1; // ${words}`,
    ` * ${words}`,
    `# ${words}`,
    `// ${url}`,
  ];
  expect(longCommentsIn('example', example.join('\n'))).toEqual([
    'example:1',
    'example:2',
    'example:3',
    'example:4',
  ]);

  const folders = ['functions', 'infra', 'lib', 'test'];
  const options = { cwd: projectDirectory, encoding: 'utf8' } as const;
  const files = execFileSync('git', ['ls-files', ...folders], options)
    .split('\n')
    .filter((file) => file !== '' && !/\.(?:json|md|svg|txt)$/.test(file))
    .filter((file) => existsSync(join(projectDirectory, file)));
  expect(files).toContain('test/project/comments.test.ts');
  const long = files.flatMap((file) =>
    longCommentsIn(file, readFileSync(join(projectDirectory, file), 'utf8')),
  );
  expect(long).toEqual([]);
});
