import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../contract/operations.ts';

const text = readFileSync(join(import.meta.dirname, 'code-samples.md'), 'utf8');
const labels = { typescript: 'TypeScript', python: 'Python' };

/** A request to an operation; its body is sent as JSON. */
export interface ExampleRequest {
  /** The parameters in the path, by name. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The code blocks of a section of code-samples.md, by language. */
const blocksOf = (heading: string): ReadonlyMap<string, string> => {
  const section = text.split('\n## ').find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const blocks = section.matchAll(/^```(\w+)\n(.*?)\n```$/gms);
  return new Map([...blocks].map(([, lang = '', source = '']) => [lang, source]));
};

/** Returns the command that sends a request. */
const curl = (template: string, { path = {}, query = {}, body }: ExampleRequest): string => {
  const target = template.replace(/{(\w+)}/g, (_parameter, name: string) => path[name] ?? '');
  const parameters = new URLSearchParams(query);
  const url = parameters.size > 0 ? `${target}?${parameters}` : target;
  const lines = [`curl "$BASE_URL${url}"`, '-H "Authorization: Bearer $API_KEY"'];
  if (body !== undefined) {
    lines.push(
      '-H "Idempotency-Key: $(openssl rand -hex 16)"',
      '-H "Content-Type: application/json"',
      `-d '${JSON.stringify(body)}'`,
    );
  }
  return lines.join(' \\\n  ');
};

/**
 * Returns requests to an operation, for `x-codeSamples`: with curl, and those of code-samples.md. They read
 * BASE_URL and API_KEY.
 */
export const codeSamples = ({ name, path }: Operation, example: ExampleRequest) => {
  const setup = blocksOf('Setup');
  const requests = blocksOf(name);
  const written = Object.entries(labels).map(([lang, label]) => ({
    lang,
    label,
    source: [setup.get(lang) ?? [], requests.get(lang)].flat().join('\n\n'),
  }));
  return [{ lang: 'sh', label: 'curl', source: curl(path, example) }, ...written];
};
