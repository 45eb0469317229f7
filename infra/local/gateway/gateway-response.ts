import type { GatewayReply } from './proxy-reply.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';

/**
 * The errors of API Gateway that the local gateway responds with: the gateway response that a template may customise, and
 * what API Gateway sends without one. Statuses, types and messages are recorded (rows of aws-recorded.md) where no
 * comment says "unverified".
 */
const gatewayErrors = {
  // 43, 46. Unverified: error type and message.
  badRequest: {
    responseType: 'DEFAULT_4XX',
    status: 400,
    errorType: 'BadRequestException',
    message: 'Bad Request',
  },
  // 40. Before a stage is found, no gateway response can apply. Unverified: the error type.
  noSuchStage: {
    responseType: undefined,
    status: 403,
    errorType: 'ForbiddenException',
    message: 'Forbidden',
  },
  // 38. Without what AWS appends about the token (39). Unverified: the error type.
  tokenIsNoSignature: {
    responseType: 'DEFAULT_4XX',
    status: 403,
    errorType: 'IncompleteSignatureException',
    message: 'Invalid key=value pair (missing equal-sign) in Authorization header',
  },
  // 34, 35.
  noSuchRoute: {
    responseType: 'MISSING_AUTHENTICATION_TOKEN',
    status: 403,
    errorType: 'MissingAuthenticationTokenException',
    message: 'Missing Authentication Token',
  },
  // 85. Unverified: the error type.
  tooLarge: {
    responseType: 'REQUEST_TOO_LARGE',
    status: 413,
    errorType: 'RequestTooLargeException',
    message: 'Request Too Long',
  },
  // 49, 50, 55.
  functionFailed: {
    responseType: 'INTEGRATION_FAILURE',
    status: 502,
    errorType: 'InternalServerErrorException',
    message: 'Internal server error',
  },
  // 55, 59 to 62. Unverified: the type of the response.
  malformedReply: {
    responseType: 'DEFAULT_5XX',
    status: 502,
    errorType: 'InternalServerErrorException',
    message: 'Internal server error',
  },
  // 53. Unverified: the error type.
  timedOut: {
    responseType: 'INTEGRATION_TIMEOUT',
    status: 504,
    errorType: 'InternalServerErrorException',
    message: 'Endpoint request timed out',
  },
} as const;

export type GatewayErrorName = keyof typeof gatewayErrors;

/** A request that the gateway itself responds to with an error. */
export class GatewayError extends Error {
  override readonly name: GatewayErrorName;

  constructor(name: GatewayErrorName) {
    super(name);
    this.name = name;
  }
}

/**
 * The response to an error of the gateway's own: what the template says for its type, or for the default type (row 83),
 * completed by what API Gateway sends where the template says nothing (rows 82, 84).
 */
export const gatewayResponse = (
  api: RestApiDefinition | undefined,
  name: GatewayErrorName,
): GatewayReply => {
  const { responseType, status, errorType, message } = gatewayErrors[name];
  const responses = api?.gatewayResponses;
  const response =
    responseType &&
    (responses?.get(responseType) ?? responses?.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'));
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
