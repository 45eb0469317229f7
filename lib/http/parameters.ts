import { errors, refuse } from '../contract/errors.ts';
import { idempotencyKeyPattern, maxIdempotencyKeyLength } from '../contract/limits.ts';
import { parseQuery, type RequestSchema } from '../contract/requests.ts';
import {
  headerValues,
  type OperationContext,
  type OperationEvent,
  type WithContext,
} from './request.ts';

/**
 * Parses the query into `context.query`. Throws `invalid_request` for wrong, unknown and repeated parameters.
 */
export const queryParameters = <Query>(schema: RequestSchema<Query>) => ({
  before: ({ event, context }: WithContext<OperationContext & { query: Query }>) => {
    const parameters = Object.entries(event.multiValueQueryStringParameters ?? {});
    const repeated = parameters.filter(
      ([name, values]) => (values?.length ?? 0) > 1 && Object.hasOwn(schema.entries, name),
    );
    refuse(repeated.map(([name]) => `${name} must not be repeated`));
    const firstValues = parameters.map(([name, values]) => [name, values?.[0]]);
    context.query = parseQuery(schema, Object.fromEntries(firstValues));
  },
});

/**
 * Returns the request's `Idempotency-Key`, if it has one. Throws `invalid_request` for one that is empty, too
 * long or not visible ASCII.
 */
export const idempotencyKeyOf = (event: OperationEvent): string | undefined => {
  const [key, ...others] = headerValues(event, 'idempotency-key');
  if (key === undefined) return undefined;
  if (others.length > 0) throw errors.invalidRequest('Idempotency-Key must not be repeated.');
  if (idempotencyKeyPattern.test(key)) return key;
  throw errors.invalidRequest(
    `Idempotency-Key must be 1 to ${maxIdempotencyKeyLength} visible ASCII characters, without spaces.`,
  );
};
