import { MIMEType } from 'node:util';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import * as z from 'zod/mini';
import { errors } from '../contract/errors.ts';
import { parseJson } from '../contract/exact-json.ts';
import { maxBodyBytes } from '../contract/limits.ts';
import { headerValues } from './header-values.ts';
import type { OperationRequest } from './operation-request.ts';
import { printableName } from './printable-name.ts';

/** Deeper than any body of the contract, and far from what exhausts the stack of a recursive reader. */
const maxDepth = 32;

const parser = httpJsonBodyParser({ disableContentTypeCheck: true });

/**
 * Reads the request's body as JSON into `event.body`, each integer to its last digit.
 * Throws `unsupported_media_type`, `payload_too_large` or `invalid_request`, in this order.
 */
export const jsonBody = () => ({
  before: (request: OperationRequest) => {
    const { event } = request;
    const sent = typeof event.body === 'string' ? event.body : '';
    requireJson(headerValues(event, 'content-type'), sent);
    if (Buffer.byteLength(sent, event.isBase64Encoded ? 'base64' : 'utf8') > maxBodyBytes) {
      throw errors.payloadTooLarge();
    }
    const body = event.isBase64Encoded ? decodeBase64(sent) : sent;
    if (body === '') throw errors.invalidRequest('The body is missing.');
    if (nestingDepth(body) > maxDepth)
      throw errors.invalidRequest('The body is nested too deeply.');
    try {
      parser.before?.({
        ...request,
        event: { ...event, body, isBase64Encoded: false },
        error: null,
      });
    } catch (error) {
      throw errors.invalidRequest(reasonOf(error, body));
    }
    // The parser's reviver gets no source text, so exact integers take a second read.
    event.body = parseJson(body);
  },
});

const requireJson = (contentTypes: readonly string[], body: string) => {
  // Without body and type alike the body is what's missing, and that answer helps more.
  if (contentTypes.length === 0 && body === '') return;
  const [contentType = '', ...others] = contentTypes;
  if (!isJsonInUtf8(contentType) || others.length > 0) throw errors.unsupportedMediaType();
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
    // Not UTF-8: refused below, like text that is not base64.
  }
  throw errors.invalidRequest('The body is not valid UTF-8 in base64.');
};

const nestingDepth = (body: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < body.length; index += 1) {
    const character = body[index];
    if (character === '"') inString = !inString;
    else if (inString && character === '\\') index += 1;
    else if (!inString && (character === '[' || character === '{')) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (!inString && (character === ']' || character === '}')) depth -= 1;
  }
  return deepest;
};

/** How the parser tells what it refused: the name of a forbidden field, or the whole text that is no JSON. */
const Refusal = z.object({ cause: z.object({ data: z.string() }) });

const reasonOf = (error: unknown, body: string): string => {
  const refused = Refusal.parse(error).cause.data;
  return refused === body
    ? 'The body is not valid JSON.'
    : `${printableName(refused)} is not known.`;
};
