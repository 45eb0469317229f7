import type { GatewayReply } from './proxy-reply.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';

const internalError = ['InternalServerErrorException', 'Internal server error'] as const;

/**
 * The errors of API Gateway that the local gateway responds with. Each has the type of its gateway response, which a
 * template may customise, and the default status, error type and message. Numbers are rows of aws-recorded.md; what a
 * comment calls unverified was not recorded.
 */
const gatewayErrors = {
  // 43, 46. Unverified: error type and message.
  badRequest: ['DEFAULT_4XX', 400, 'BadRequestException', 'Bad Request'],
  // 40. Before a stage is found, no gateway response can apply. Unverified: the error type.
  noSuchStage: [undefined, 403, 'ForbiddenException', 'Forbidden'],
  // 38, but without the text that AWS appends about the token (39). Unverified: the error type.
  tokenIsNoSignature: [
    'DEFAULT_4XX',
    403,
    'IncompleteSignatureException',
    'Invalid key=value pair (missing equal-sign) in Authorization header',
  ],
  // 34, 35.
  noSuchRoute: [
    'MISSING_AUTHENTICATION_TOKEN',
    403,
    'MissingAuthenticationTokenException',
    'Missing Authentication Token',
  ],
  // 85 and koki-develop/lgtm-generator#10. Unverified: the type of the response.
  tooLarge: ['REQUEST_TOO_LARGE', 413, 'BadRequestException', 'Request Too Long'],
  // 49, 50, 55.
  functionFailed: ['INTEGRATION_FAILURE', 502, ...internalError],
  // 55, 59 to 62. Unverified: the type of the response.
  malformedReply: ['DEFAULT_5XX', 502, ...internalError],
  // 53. Unverified: the error type.
  timedOut: ['INTEGRATION_TIMEOUT', 504, internalError[0], 'Endpoint request timed out'],
} as const;

export type GatewayErrorName = keyof typeof gatewayErrors;

/**
 * The response to an error of the gateway itself, as the template customises its type or the default type (row 83). API
 * Gateway's own values fill in what the template leaves out (rows 82, 84).
 */
export const gatewayResponse = (
  { gatewayResponses: responses }: RestApiDefinition,
  name: GatewayErrorName,
): GatewayReply => {
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
