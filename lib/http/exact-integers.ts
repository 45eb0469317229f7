import { parseJson } from '../contract/exact-json.ts';
import { notJson } from './body-errors.ts';
import type { BodyRequest } from './operation-request.ts';

/**
 * Parses the body again and keeps each integer exact: Middy's parser hands its reviver no source text.
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
