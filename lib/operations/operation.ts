import * as v from 'valibot';
import type { RequestSchema } from '../contract/requests.ts';
import type { OperationName, Route } from '../contract/routes.ts';

/** When an operation was deprecated, when it is removed, and what replaces it. */
export interface Deprecation {
  readonly since: Date;
  /** From this instant on the operation returns 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, relative to the base address. */
  readonly successor: string;
}

/** What the function of an operation needs to know of it. */
export interface Operation<Query = unknown> extends Route {
  readonly name: OperationName;
  /** All parameters that the operation takes in its query. */
  readonly query: RequestSchema<Query>;
  /** The schema of the body that the operation takes, under its name in openapi.json. */
  readonly body?: Readonly<Record<string, RequestSchema<unknown>>>;
  /** The status of a successful response. A response with 204 has no body. */
  readonly successStatus: 200 | 201 | 204;
  readonly deprecation?: Deprecation;
  readonly stability?: 'experimental' | 'beta';
}

/** The query of an operation that takes no parameters in it. */
export const NoQuery = v.object({});

/** Whether the sunset of an operation has come, so that it responds with 410. */
export const isRemoved = ({ deprecation }: Pick<Operation, 'deprecation'>): boolean =>
  deprecation !== undefined && Date.now() >= deprecation.sunset.getTime();

/** The headers of every response of a deprecated operation: RFC 9745 and RFC 8594. */
export const deprecationHeaders = ({ since, sunset }: Deprecation) => ({
  Deprecation: `@${since.getTime() / 1_000}`,
  Sunset: sunset.toUTCString(),
});
