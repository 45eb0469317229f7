import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName } from '../../lib/contract/operations.ts';

const text = readFileSync(join(import.meta.dirname, 'code-samples.md'), 'utf8');
const labels: Readonly<Record<string, string>> = {
  sh: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
};

/** The requests of an operation in code-samples.md, for `x-codeSamples`. They read BASE_URL and API_KEY. */
export const codeSamples = (name: OperationName) => {
  const section = text.split('\n## ').find((each) => each.startsWith(name)) ?? '';
  return [...section.matchAll(/^```(\w+)\n(.*?)\n```$/gms)].map(([, lang = '', source = '']) => ({
    lang,
    label: labels[lang],
    source,
  }));
};
