import httpJsonBodyParser from '@middy/http-json-body-parser';
import { parseBody, type RequestSchema } from '../contract/requests.ts';
import { bodyLimits } from './body-limits.ts';
import { exactIntegers } from './exact-integers.ts';
import type { OperationEvent } from './operation-request.ts';

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
