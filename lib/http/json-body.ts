import httpJsonBodyParser from '@middy/http-json-body-parser';
import { parseJson } from '../contract/exact-json.ts';
import { parseBody, type RequestSchema } from '../contract/requests.ts';
import { bodyLimits } from './body-limits.ts';
import { notJson } from './error-responses.ts';
import type { BodyRequest, OperationEvent } from './operation-request.ts';

/**
 * Parses the body into `event.body`, by its schema and with every digit of its integers. Throws 415 (type,
 * coding), 413 (size) or 400 (missing, not JSON, or a wrong or unknown field).
 */
export const jsonBody = <Body>(schema: RequestSchema<Body>) => [
  bodyLimits(),
  httpJsonBodyParser({ disableContentTypeCheck: true }),
  exactIntegers(),
  {
    before: ({ event }: { event: OperationEvent & { body: Body } }) => {
      event.body = parseBody(schema, event.body);
    },
  },
];

/**
 * Parses the body again, because Middy's parser rounds large integers. Throws
 * `invalid_request` for too deep nesting.
 */
const exactIntegers = () => ({
  before: ({ event, internal }: BodyRequest) => {
    try {
      event.body = parseJson(internal.bodyText);
    } catch {
      throw notJson();
    }
  },
});
