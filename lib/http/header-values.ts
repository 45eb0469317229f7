import type { APIGatewayProxyEvent } from 'aws-lambda';

/** All values of a request header, given by its name in lower case; the request may spell it in any case. */
export const headerValues = (
  event: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>,
  name: string,
): string[] => {
  const values: string[] = [];
  for (const [given, sent = []] of Object.entries(event.multiValueHeaders ?? {})) {
    // Most headers differ in length, which is cheaper to compare.
    if (given.length === name.length && given.toLowerCase() === name) values.push(...sent);
  }
  return values;
};
