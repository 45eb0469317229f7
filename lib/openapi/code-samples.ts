import { type Operation, takesIdempotencyKey } from '../operations/operation.ts';
import type { ExampleRequest } from '../operations/operation-details.ts';

/** The path of a request, with its parameters. */
const pathOf = (template: string, { path = {} }: ExampleRequest): string =>
  template.replace(/{(\w+)}/g, (_parameter, name: string) => `${path[name]}`);

/** The command that sends a request. */
const curl = (operation: Operation, request: ExampleRequest): string => {
  const { query = {}, body } = request;
  const target = pathOf(operation.path, request);
  const parameters = new URLSearchParams(query);
  const url = parameters.size > 0 ? `${target}?${parameters}` : target;
  const impliedMethod = body === undefined ? 'GET' : 'POST';
  const method = operation.method === impliedMethod ? '' : `-X ${operation.method} `;
  const lines = [`curl ${method}"$BASE_URL${url}"`, '-H "Authorization: Bearer $API_KEY"'];
  if (takesIdempotencyKey(operation)) lines.push('-H "Idempotency-Key: $key"');
  if (body !== undefined) {
    // A quoted text of the shell has no escape for the quote.
    const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
    lines.push('-H "Content-Type: application/json"', `-d '${json}'`);
  }
  // On a line of its own, so that a repeated request has the same key.
  const newKey = takesIdempotencyKey(operation) ? 'key=$(openssl rand -hex 16)\n' : '';
  return newKey + lines.join(' \\\n  ');
};

const hasResponseBody = ({ successStatus }: Operation) => successStatus !== 204;

/** The program that calls the typed client. */
const typescript = (operation: Operation, call: string): string => `\
import { AnimalStore } from '@example.com/animal-store-client';

const { BASE_URL: baseAddress = '', API_KEY: apiKey = '' } = process.env;
const store = new AnimalStore({ baseAddress, apiKey });

${hasResponseBody(operation) ? `console.log(await ${call})` : `await ${call}`};`;

/** The program that sends a request with Python's module requests. */
const python = (operation: Operation, request: ExampleRequest): string => {
  const { method, path } = operation;
  const { query, body } = request;
  const values = [`os.environ["BASE_URL"] + "${pathOf(path, request)}"`];
  if (query !== undefined) values.push(`params=${dictionary(query)}`);
  if (body !== undefined) values.push(`json=${dictionary(body)}`);
  if (takesIdempotencyKey(operation)) values.push('headers={"Idempotency-Key": key}');
  return `\
import os
import requests

session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["API_KEY"]
${takesIdempotencyKey(operation) ? 'key = os.urandom(16).hex()\n' : ''}
response = session.${method.toLowerCase()}(
${values.map((value) => `    ${value},`).join('\n')}
)
response.raise_for_status()${hasResponseBody(operation) ? '\nprint(response.json())' : ''}`;
};

/** Fields as a dictionary of Python. */
const dictionary = (fields: object): string => {
  const pairs = Object.entries(fields).map(([name, value]) => `"${name}": ${literal(value)}`);
  return `{${pairs.join(', ')}}`;
};

/** A text, a number or a boolean in Python. */
const literal = (value: unknown): string => {
  if (value === true) return 'True';
  if (value === false) return 'False';
  return JSON.stringify(value);
};

/**
 * Returns requests to an operation, for `x-codeSamples`: with curl, with a call of the typed client, and in
 * Python. They read BASE_URL and API_KEY.
 */
export const codeSamples = (operation: Operation, request: ExampleRequest, clientCall: string) => [
  { lang: 'sh', label: 'curl', source: curl(operation, request) },
  { lang: 'typescript', label: 'TypeScript', source: typescript(operation, clientCall) },
  { lang: 'python', label: 'Python', source: python(operation, request) },
];
