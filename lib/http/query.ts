import { refuse } from '../contract/refusals.ts';
import { parseQuery, type RequestSchema } from '../contract/requests.ts';
import type { OperationContext, WithContext } from './operation-request.ts';

/**
 * Parses the query into `context.query`. Throws `invalid_request` for wrong, unknown and repeated parameters.
 */
export const query = <Query>(schema: RequestSchema<Query>) => ({
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
