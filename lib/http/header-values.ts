import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * Returns all values of a request header. The name is given in lower case. The request
 * may spell it in any case.
 */
export const headerValues = (
  { multiValueHeaders }: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>,
  name: string,
): string[] => {
  const values: string[] = [];
  for (const given of Object.keys(multiValueHeaders ?? {})) {
    // Most headers differ in length, which is cheaper to compare.
    if (given.length === name.length && given.toLowerCase() === name)
      values.push(...(multiValueHeaders[given] ?? []));
  }
  return values;
};
