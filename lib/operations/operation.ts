import * as v from 'valibot';
import { type ApiError, errors } from '../contract/errors.ts';
import type { RequestSchema } from '../contract/parse-request.ts';
import type { Deprecation, OperationName, Route } from '../contract/routes.ts';

/** The schemas of what an operation takes of a request. That of a body has a title. */
interface InputSchemas<Path, Query, Headers> {
  readonly path: RequestSchema<Path>;
  readonly query: RequestSchema<Query>;
  readonly headers: RequestSchema<Headers>;
  readonly body?: RequestSchema<unknown>;
}

/** The status of a successful response, and the schema of its body, which has a title. */
type Success =
  | { readonly successStatus: 200 | 201; readonly response: v.GenericSchema }
  | { readonly successStatus: 204; readonly response?: never };

/** What the function of an operation needs to know of it. */
export type Operation<Path = unknown, Query = unknown, Headers = unknown> = Route & {
  readonly name: OperationName;
  readonly input: InputSchemas<Path, Query, Headers>;
  readonly stability?: 'experimental' | 'beta';
} & Success;

const Nothing = v.object({});

/** The input of an operation that takes nothing. A definition replaces the parts that its operation takes. */
export const noInput = { path: Nothing, query: Nothing, headers: Nothing };

/** Whether an operation takes an `Idempotency-Key`. */
export const takesIdempotencyKey = ({ input }: Pick<Operation, 'input'>): boolean =>
  Object.hasOwn(input.headers.entries, 'Idempotency-Key');

/** Returns the error with which an operation responds from its sunset on, and `undefined` before. */
export const removalOf = ({ deprecation }: Pick<Operation, 'deprecation'>): ApiError | undefined =>
  deprecation && Date.now() >= deprecation.sunset.getTime()
    ? errors.endpointRemoved(deprecation.successor)
    : undefined;

/** The headers of every response of a deprecated operation: RFC 9745 and RFC 8594. */
export const deprecationHeaders = ({ since, sunset }: Deprecation) => ({
  Deprecation: `@${since.getTime() / 1_000}`,
  Sunset: sunset.toUTCString(),
});
