import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { copyBackProgram } from '../../infra/commands/copy-back.ts';
import { keysProgram } from '../../infra/commands/keys.ts';
import { prod } from '../../infra/settings/stages.ts';

const runbook = readFileSync(join(projectDirectory, 'infra/runbook.md'), 'utf8');

it('the runbook names no region but that of prod', () => {
  for (const region of runbook.match(/\b[a-z]{2}-[a-z]+-\d\b/g) ?? [])
    expect(region).toBe(prod.env?.region);
});

const commands = [...runbook.matchAll(/npm run (keys|copy-back) -- ([^`\n]+)/g)].map(
  ([text, script, words = '']) => ({
    text,
    program: script === 'keys' ? keysProgram : copyBackProgram,
    // An id of a key, and also a name of a table.
    words: words.replaceAll(/<[A-Z_]+>/g, '0123456789abcdef').split(' '),
  }),
);

describe('the commands of the runbook', () => {
  it.each(commands)('are accepted: $text', async ({ program: programOf, words }) => {
    const program = programOf(undefined);
    for (const command of [program, ...program.commands])
      command
        .exitOverride()
        .action(() => {})
        .configureOutput({ writeErr: () => {} });
    await program.parseAsync(words, { from: 'user' });
  });
});
