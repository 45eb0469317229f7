import type { HttpResponse } from './proxy-output.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';

/**
 * The errors of API Gateway with which the local gateway responds: the type of the gateway response, and its
 * error type. The comments name the source of each, which `infra/local/aws-behaviour.md` links, and what is
 * unverified.
 */
const gatewayErrors = {
  // Recorded by LocalStack.
  noSuchRoute: ['MISSING_AUTHENTICATION_TOKEN', 'MissingAuthenticationTokenException'],
  // koki-develop/lgtm-generator#10. Unverified: the type of the response.
  tooLarge: ['REQUEST_TOO_LARGE', 'BadRequestException'],
  // DataBiosphere/azul#6624, #8192 and #8258.
  functionFailed: ['INTEGRATION_FAILURE', 'InternalServerErrorException'],
  // LocalStack, aws-lambda-dotnet. API_CONFIGURATION_ERROR, which may be the type, gets the same response.
  malformedOutput: ['DEFAULT_5XX', 'InternalServerErrorException'],
} as const;

const headersOf = (errorType: string): HttpResponse['headers'] => [
  ['Content-Type', 'application/json'],
  ['x-amzn-ErrorType', errorType],
];

export type GatewayErrorName = keyof typeof gatewayErrors;

/** Returns the response to an error of the gateway itself. Throws if the template does not declare it. */
export const gatewayResponse = (
  { gatewayResponses }: RestApiDefinition,
  name: GatewayErrorName,
): HttpResponse => {
  const [type, errorType] = gatewayErrors[name];
  const response = gatewayResponses.find((one) => one.type === type);
  if (!response) throw new Error(`The template has no gateway response of the type ${type}`);
  return { ...response, headers: [...headersOf(errorType), ...response.headers] };
};

/**
 * The response to a path outside every stage, which no gateway response changes (OWASP/Serverless-Goat#14).
 * Unverified: the error type.
 */
export const noSuchStage: HttpResponse = {
  status: 403,
  headers: headersOf('ForbiddenException'),
  body: '{"message":"Forbidden"}',
};
