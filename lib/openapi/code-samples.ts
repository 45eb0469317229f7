import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName } from '../contract/routes.ts';

const text = readFileSync(join(import.meta.dirname, 'code-samples.md'), 'utf8');
const labels = { sh: 'curl', typescript: 'TypeScript', python: 'Python' };

/** The code blocks of a section of code-samples.md, by language. */
const blocksOf = (heading: string): ReadonlyMap<string, string> => {
  const section = text.split('\n## ').find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const blocks = section.matchAll(/^```(\w+)\n(.*?)\n```$/gms);
  return new Map([...blocks].map(([, lang = '', source = '']) => [lang, source]));
};

/** The requests of an operation in code-samples.md, for `x-codeSamples`. They read BASE_URL and API_KEY. */
export const codeSamples = (name: OperationName) => {
  const setup = blocksOf('Setup');
  const requests = blocksOf(name);
  return Object.entries(labels).map(([lang, label]) => ({
    lang,
    label,
    source: [setup.get(lang) ?? [], requests.get(lang)].flat().join('\n\n'),
  }));
};
