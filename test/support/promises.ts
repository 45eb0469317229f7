import * as v from 'valibot';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { maxNameLength, petStatuses } from '../../lib/contract/pet.ts';
import type { ClientResponse } from './http-client.ts';

/** The pet of a response, which has all fields and no others. */
const PromisedPet = v.strictObject({
  id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  name: v.pipe(v.string(), v.regex(/\S/), v.maxLength(2 * maxNameLength)),
  categoryId: v.union([v.pipe(v.number(), v.safeInteger()), v.bigint()]),
  status: v.picklist(petStatuses),
});
const PromisedBody = v.union([PromisedPet, v.pipe(v.array(PromisedPet), v.maxLength(maxLimit))]);

const link = (relation: string) => `<[^>]+>; rel="${relation}"`;

/** The values that headers may have. */
const promisedHeaders: Readonly<Record<string, RegExp>> = {
  'cache-control': /^no-store$/,
  'idempotent-replayed': /^true$/,
  link: new RegExp(`^(${link('next')}|(${link('next')}, )?${link('successor-version')})$`),
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
export const brokenPromises = ({ status, headers, text }: ClientResponse): string[] => {
  const missing = requiredHeaders(status).filter(
    (name) => headers[name] === undefined && !leftOutHeaders.has(name),
  );
  const wrong = Object.entries(promisedHeaders).filter(
    ([name, pattern]) => headers[name] !== undefined && !pattern.test(`${headers[name]}`),
  );
  const isPromised = status >= 400 || text === '' || v.is(PromisedBody, parseJson(text));
  return [
    ...missing.map((name) => `${name} is missing`),
    ...wrong.map(([name]) => `${name} is ${headers[name]}`),
    ...(isPromised ? [] : [`the body is ${text}`]),
  ];
};
