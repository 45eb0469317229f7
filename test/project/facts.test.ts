import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import {
  documentsWithFacts,
  factNames,
  factsIn,
  withFacts,
} from '../../infra/commands/facts/facts.ts';

const read = (name: string) => readFileSync(join(projectDirectory, name), 'utf8');

describe('the facts between markers', () => {
  it.each(documentsWithFacts)('in %s are those that npm run facts writes', (name) => {
    expect(withFacts(read(name)), 'Run: npm run facts').toBe(read(name));
  });

  it('are each stated in a document', () => {
    const stated = documentsWithFacts.flatMap((name) => factsIn(read(name)));
    expect(new Set(stated)).toEqual(new Set(factNames));
  });

  it('replace what a document stated before, and must be known', () => {
    const [name] = factNames;
    const stale = `a <!-- fact: ${name} -->old<!-- end --> b`;
    expect(withFacts(stale)).not.toContain('old');
    expect(withFacts(withFacts(stale))).toBe(withFacts(stale));
    expect(() => withFacts('<!-- fact: nothing --><!-- end -->')).toThrow('no fact nothing');
  });
});
