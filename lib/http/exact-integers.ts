import { parseJson } from '../contract/exact-json.ts';
import { notJson } from './body-errors.ts';
import type { BodyRequest } from './operation-request.ts';

/**
 * Reads the body a second time, each integer to its last digit: Middy's parser hands its reviver no source text.
 * Throws `invalid_request` for a body that is nested too deeply for that.
 */
export const exactIntegers = () => ({
  before: ({ event, internal }: BodyRequest) => {
    try {
      event.body = parseJson(internal.bodyText);
    } catch {
      throw notJson();
    }
  },
});
