import type { APIGatewayProxyResult } from 'aws-lambda';
import { errors } from './api-error.ts';

declare global {
  interface JSON {
    /** TC39 "JSON.parse source text access", in Node since 22. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Reads JSON without altering a number: integers beyond 2^53 become `bigint`.
 * Throws `invalid_request` for a number that would come out different from how it was written
 * (`1.0`, `1e400`), and a SyntaxError for text that is not JSON.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, (key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source);
    if (String(value) === source) return value;
    throw errors.invalidRequest(`${printableName(key)} must be a number in plain notation`);
  });

/** Writes JSON with every `bigint` as the number it is. */
export const stringifyJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? JSON.rawJSON(member.toString()) : member,
  );

/** A response with a JSON body; nothing on its way may store it, for it depends on the API key. */
export const json = (
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode,
  headers: {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...headers,
  },
  body: stringifyJson(body),
});

/** A client's field or parameter name as it may stand in an error message: short and plain, or not at all. */
export const printableName = (name: string): string =>
  /^[\w.$-]{1,64}$/.test(name) ? name : 'a field with an unprintable name';
