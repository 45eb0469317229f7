import type { APIGatewayProxyEvent } from 'aws-lambda';

/** All values that a request gives for a header, whatever the case of its name. */
export const headerValues = (
  event: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>,
  name: string,
): string[] => {
  const values: string[] = [];
  for (const [given, sent = []] of Object.entries(event.multiValueHeaders ?? {})) {
    // Most headers differ in length already, which costs less to see.
    if (given.length === name.length && given.toLowerCase() === name) values.push(...sent);
  }
  return values;
};
