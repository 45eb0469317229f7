import type { APIGatewayProxyEvent } from 'aws-lambda';
import { called, refuse } from '../contract/refusals.ts';
import { parseQuery, type RequestSchema } from '../contract/requests.ts';
import type { OperationContext, WithContext } from './operation-request.ts';

/**
 * Parses the query into `context.query`. Throws `invalid_request` for wrong, unknown and repeated parameters.
 */
export const query = <Query>(schema: RequestSchema<Query>) => ({
  before: ({ event, context }: WithContext<OperationContext & { query: Query }>) => {
    context.query = parseQuery(schema, valuesOf(event));
  },
});

const valuesOf = ({
  multiValueQueryStringParameters,
}: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>) => {
  const parameters = Object.entries(multiValueQueryStringParameters ?? {});
  const repeated = parameters.filter(([, values]) => (values?.length ?? 0) > 1);
  refuse(repeated.map(([name]) => `${called('query parameter', name)} is given twice`));
  return Object.fromEntries(parameters.map(([name, values]) => [name, values?.[0]]));
};
