import type { APIGatewayProxyEvent } from 'aws-lambda';

/** All values that a request gives for a header, whatever the case of its name. */
export const headerValues = (
  event: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>,
  name: string,
): string[] =>
  Object.entries(event.multiValueHeaders ?? {}).flatMap(([given, values]) =>
    given.toLowerCase() === name ? (values ?? []) : [],
  );
