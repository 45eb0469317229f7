import { MIMEType } from 'node:util';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiError, errors, notKnown } from '../contract/errors.ts';
import { parseJson } from '../contract/exact-json.ts';
import { fieldsOf } from '../contract/is-record.ts';
import { maxBodyBytes, maxContentTypeLength } from '../contract/limits.ts';
import { parseBody, type RequestSchema } from '../contract/parse-request.ts';
import type { RequestWith } from './chain-types.ts';
import { headerValues } from './header-values.ts';

/**
 * Parses the body into `event.input.body`, by its schema and with every digit of its integers. Throws 415
 * (type, coding), 413 (size) or 400 (missing, not JSON, or a wrong or unknown field). The body is parsed
 * twice, because Middy's parser refuses `__proto__` and other keys that pollute prototypes, but rounds large
 * integers.
 */
export const jsonBody = <Body>(schema: RequestSchema<Body>) => [
  bodyLimits(),
  httpJsonBodyParser<APIGatewayProxyEvent>({ disableContentTypeCheck: true }),
  {
    before: ({ event, internal }: BodyRequest<{ input: { body: Body } }>) => {
      event.input.body = parseBody(schema, parseExactly(internal.bodyText));
    },
    // Runs before that of the chain's error responses, because Middy calls those added later first.
    onError: (request: BodyRequest) => {
      request.error = parserError(request.error) ?? request.error;
    },
  },
];

/** The middleware that parses a body. */
export type BodyParser<Body> = ReturnType<typeof jsonBody<Body>>;

/** The request of a middleware that parses a body. `internal.bodyText` is the body as text. */
type BodyRequest<EventValues = unknown> = RequestWith<unknown, EventValues, { bodyText: string }>;

/** Returns the error for a body that is not JSON, or that is nested too deeply to parse. */
const notJson = (): ApiError =>
  errors.invalidRequest('The body is not valid JSON, or is nested too deeply.');

/**
 * Returns the error for one of Middy's JSON parser, which refuses forbidden keys and text that is not JSON.
 * Returns `undefined` for any other error.
 */
const parserError = (thrown: unknown): ApiError | undefined => {
  const { message, cause } = fieldsOf(thrown);
  const { package: thrower, data } = fieldsOf(cause);
  if (thrower !== '@middy/http-json-body-parser') return undefined;
  // `data` is the forbidden key, but the whole body in the other error.
  return message === 'Forbidden key in JSON body'
    ? errors.invalidRequest(`${notKnown('field', `${data}`)}.`)
    : notJson();
};

/**
 * Parses the body with every digit of its integers. A number that `parseJson` can't read exactly becomes NaN,
 * which is invalid in every field. Throws `invalid_request` for too deep nesting.
 */
const parseExactly = (text: string): unknown => {
  try {
    return parseJson(text, Number.NaN);
  } catch {
    throw notJson();
  }
};

/**
 * Decodes the body into `event.body` and `internal.bodyText`. Throws 415 (type, coding), 413 (size) or
 * 400 (missing, not UTF-8, or with a byte order mark).
 */
const bodyLimits = () => ({
  before: ({ event, internal }: BodyRequest) => {
    const sent = typeof event.body === 'string' ? event.body : '';
    requireJson(headerValues(event, 'content-type'), sent);
    if (headerValues(event, 'content-encoding').some((coding) => !/^identity$/i.test(coding))) {
      throw errors.unsupportedMediaType(
        'Content-Encoding must be identity: send the body uncompressed.',
      );
    }
    if (Buffer.byteLength(sent, event.isBase64Encoded ? 'base64' : 'utf8') > maxBodyBytes) {
      throw errors.payloadTooLarge();
    }
    internal.bodyText = event.isBase64Encoded ? decodeBase64(sent) : sent;
    if (internal.bodyText === '') throw errors.invalidRequest('The body is missing.');
    if (internal.bodyText.startsWith('\ufeff')) {
      throw errors.invalidRequest(
        'The body begins with a byte order mark (U+FEFF). Send it without one.',
      );
    }
    event.body = internal.bodyText;
    event.isBase64Encoded = false;
  },
});

const requireJson = (contentTypes: readonly string[], body: string) => {
  // Without a body and a type, the message about the missing body helps more.
  if (contentTypes.length === 0 && body === '') return;
  const [contentType = '', ...others] = contentTypes;
  // MIMEType takes time quadratic in the length.
  if (contentType.length > maxContentTypeLength) {
    throw errors.unsupportedMediaType(
      `Content-Type must have at most ${maxContentTypeLength} characters.`,
    );
  }
  if (others.length > 0 || !isJsonInUtf8(contentType)) throw errors.unsupportedMediaType();
};

const isJsonInUtf8 = (contentType: string): boolean => {
  try {
    const { essence, params } = new MIMEType(contentType);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
};

const decodeBase64 = (text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  try {
    if (bytes.toString('base64') === text) {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    }
  } catch {
    // Not UTF-8: refused below. API Gateway made the base64, so the message does not mention it.
  }
  throw errors.invalidRequest('The body is not valid UTF-8.');
};
