import * as v from 'valibot';
import { afterEach, beforeEach } from 'vitest';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { operations } from '../../lib/operations/operations.ts';
import type { ClientRequest, ClientResponse } from './http-client.ts';
import { departuresFromContract, operationOf } from './openapi-document.ts';

const link = (relation: string) => `<[^>]+>; rel="${relation}"`;

/** The values that headers may have. */
const promisedHeaders: Readonly<Record<string, RegExp>> = {
  'cache-control': /^no-store$/,
  'idempotent-replayed': /^true$/,
  link: new RegExp(`^(${link('next')}|${link('successor-version')})$`),
  deprecation: /^@\d{1,15}$/,
  sunset: /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [0-9:]{8} GMT$/,
  accept: /^application\/json$/,
  'accept-encoding': /^identity$/,
  allow: /^[A-Z]+(, [A-Z]+)*$/,
  'retry-after': /^\d{1,5}$/,
  'www-authenticate': /^Bearer$/,
  'x-amzn-remapped-www-authenticate': /^Bearer$/,
};

/** The headers that a response with this status must have. */
const requiredHeaders = (status: number): string[] => [
  'cache-control',
  'x-amz-apigw-id',
  ...(status === 405 ? ['allow'] : []),
  ...(status === 415 ? ['accept', 'accept-encoding'] : []),
  ...([429, 503].includes(status) ? ['retry-after'] : []),
];

/** Names of headers that an emulator does not send, in lower case. AWS sends every header of the contract. */
const leftOutHeaders: ReadonlySet<string> = new Set(process.env['LEFT_OUT_HEADERS']?.split(' '));

/**
 * Returns what the service promises of a response but does not keep. openapi.json has no rules for responses,
 * because generated clients would refuse a page for them.
 */
const brokenPromises = (
  request: ClientRequest,
  { status, headers, text }: ClientResponse,
): string[] => {
  const missing = requiredHeaders(status).filter(
    (name) => headers[name] === undefined && !leftOutHeaders.has(name),
  );
  const wrong = Object.entries(promisedHeaders).filter(
    ([name, pattern]) => headers[name] !== undefined && !pattern.test(`${headers[name]}`),
  );
  const name = operationOf(request)?.operationId;
  const schema = operations.find((operation) => operation.name === name)?.response ?? v.never();
  const hasBody = status < 400 && text !== '';
  const { issues = [] } = hasBody ? v.safeParse(schema, parseJson(text)) : {};
  return [
    ...missing.map((name) => `${name} is missing`),
    ...wrong.map(([name]) => `${name} is ${headers[name]}`),
    ...issues.map((issue) => `${v.getDotPath(issue) ?? 'body'} is wrong: ${issue.message}`),
  ];
};

/** The last request of a test, and its response, which the failure of the test shows. */
let lastExchange = '';

/** The error for a response that the service does not promise. Another attempt can't help. */
export class UnpromisedResponse extends Error {
  override readonly name = 'UnpromisedResponse';
}

/**
 * Throws an UnpromisedResponse unless openapi.json and the service promise the response. `suspicion` is what
 * may be wrong if it is none of the service.
 */
export const expectPromised = (
  request: ClientRequest,
  response: ClientResponse,
  suspicion = '',
): void => {
  const { method = 'GET', path, headers = [], body = '' } = request;
  const sent = [`${method} ${path}`, ...headers.map((header) => header.join(': ')), `${body}`];
  const received = [`${response.status}`, JSON.stringify(response.headers), response.text];
  const shown = [...sent, ...received].filter(Boolean).map((line) => `  ${line.slice(0, 1_000)}`);
  lastExchange = shown.join('\n').replace(/pets_(test|live)_\w+/gi, '<API key>');
  const found = [
    ...departuresFromContract(request, response),
    ...brokenPromises(request, response),
  ];
  if (found.length > 0)
    throw new UnpromisedResponse(`${method} ${path}${suspicion}: ${found.join('; ')}`);
};

beforeEach(() => {
  lastExchange = '';
});

afterEach(({ task }) => {
  if (lastExchange === '') return;
  for (const error of task.result?.errors ?? [])
    error.message += `\nThe last request of the test, and its response:\n${lastExchange}`;
});
