import type { GatewayReply } from './proxy-reply.ts';
import type { RestApiDefinition, StaticResponse } from './rest-api-definition.ts';

/** The gateway's own errors that the local gateway can meet, with what API Gateway says without a template. */
const gatewayErrors = {
  BAD_REQUEST_PARAMETERS: {
    status: 400,
    errorType: 'BadRequestException',
    message: 'Missing required request parameters',
  },
  DEFAULT_4XX: { status: 400, errorType: 'BadRequestException', message: 'Bad Request' },
  DEFAULT_5XX: {
    status: 502,
    errorType: 'InternalServerErrorException',
    message: 'Internal server error',
  },
  INTEGRATION_TIMEOUT: {
    status: 504,
    errorType: 'InternalServerErrorException',
    message: 'Endpoint request timed out',
  },
  MISSING_AUTHENTICATION_TOKEN: {
    status: 403,
    errorType: 'MissingAuthenticationTokenException',
    message: 'Missing Authentication Token',
  },
  REQUEST_TOO_LARGE: {
    status: 413,
    errorType: 'RequestTooLargeException',
    message: 'Request Too Long',
  },
} as const;

export type GatewayErrorType = keyof typeof gatewayErrors;

/** A request that the gateway answers itself. */
export class GatewayError extends Error {
  readonly type: GatewayErrorType;

  constructor(type: GatewayErrorType) {
    super(type);
    this.type = type;
  }
}

/** What the gateway answers for an error of its own: the template's response of the type, or of the default type. */
export const gatewayResponse = (
  api: RestApiDefinition | undefined,
  type: GatewayErrorType,
): GatewayReply => {
  const { status, errorType, message } = gatewayErrors[type];
  const fallback = status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX';
  const response = api?.gatewayResponses.get(type) ?? api?.gatewayResponses.get(fallback);
  return staticReply(response, {
    status,
    headers: { 'x-amzn-ErrorType': errorType },
    body: JSON.stringify({ message }),
  });
};

/** A response of the template, completed by what API Gateway sends where it says nothing. */
export const staticReply = (
  response: StaticResponse | undefined,
  defaults: { status: number; headers: Readonly<Record<string, string>>; body: string },
): GatewayReply => ({
  status: response?.status ?? defaults.status,
  headers: Object.entries({
    'Content-Type': 'application/json',
    ...defaults.headers,
    ...response?.headers,
  }),
  body: response?.body ?? defaults.body,
});
