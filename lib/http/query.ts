import type { APIGatewayProxyEvent } from 'aws-lambda';
import { called, notKnown, refuse } from '../contract/refusals.ts';

type QueryEvent = Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>;

/** The query parameters of a request. Throws `invalid_request` for repeated ones. */
export const queryOf = ({ multiValueQueryStringParameters }: QueryEvent) => {
  const parameters = Object.entries(multiValueQueryStringParameters ?? {});
  const repeated = parameters.filter(([, values = []]) => values.length > 1);
  refuse(repeated.map(([name]) => `${called('query parameter', name)} is given twice`));
  return Object.fromEntries(parameters.map(([name, values]) => [name, values?.[0]]));
};

/** For an operation without query parameters. Throws `invalid_request` for a query. */
export const refuseQuery = ({ multiValueQueryStringParameters }: QueryEvent) => {
  const names = Object.keys(multiValueQueryStringParameters ?? {});
  refuse(names.map((name) => notKnown('query parameter', name)));
};
