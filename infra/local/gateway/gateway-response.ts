import type { HttpResponse } from './proxy-output.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';

const internalError = ['InternalServerErrorException', 'Internal server error'] as const;

/**
 * The errors of API Gateway with which the local gateway responds. Each has the type of its gateway response,
 * which a template may customise, and the default status, error type and message. The comments name the
 * source of each, which `infra/local/aws-behaviour.md` links, and what is unverified.
 */
const gatewayErrors = {
  // OWASP/Serverless-Goat#14. No gateway response applies before a stage is found.
  // Unverified: the error type.
  noSuchStage: [undefined, 403, 'ForbiddenException', 'Forbidden'],
  // Recorded by LocalStack.
  noSuchRoute: [
    'MISSING_AUTHENTICATION_TOKEN',
    403,
    'MissingAuthenticationTokenException',
    'Missing Authentication Token',
  ],
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
  // A stored 429 of Semantic Scholar's API. Unverified: the error type.
  throttled: ['THROTTLED', 429, 'TooManyRequestsException', 'Too Many Requests'],
  // koki-develop/lgtm-generator#10. Unverified: the type of the response.
  tooLarge: ['REQUEST_TOO_LARGE', 413, 'BadRequestException', 'Request Too Long'],
  // DataBiosphere/azul#6624, #8192 and #8258.
  functionFailed: ['INTEGRATION_FAILURE', 502, ...internalError],
  // LocalStack, aws-lambda-dotnet. The type may also be API_CONFIGURATION_ERROR, which gets the same response.
  malformedOutput: ['DEFAULT_5XX', 502, ...internalError],
} as const;

export type GatewayErrorName = keyof typeof gatewayErrors;

/**
 * Returns the response to an error of the gateway itself. The template can customise the error's type or the
 * default type. API Gateway's own values are used for what the template leaves out (LocalStack,
 * DataBiosphere/azul#7470).
 */
export const gatewayResponse = (
  { gatewayResponses: responses }: RestApiDefinition,
  name: GatewayErrorName,
): HttpResponse => {
  const [type, status, errorType, message] = gatewayErrors[name];
  const custom = (wanted: string) => responses.find((one) => one.type === wanted);
  const response = type && (custom(type) ?? custom(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'));
  return {
    status: response?.status ?? status,
    headers: Object.entries({
      'Content-Type': 'application/json',
      'x-amzn-ErrorType': errorType,
      ...response?.headers,
    }),
    body: response?.body ?? JSON.stringify({ message }),
  };
};
