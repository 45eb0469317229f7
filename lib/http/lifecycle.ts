import { errors } from '../contract/errors.ts';
import type { Operation } from '../contract/operations.ts';
import { link } from './link.ts';
import type { ChainRequest } from './operation-request.ts';

/**
 * Tells the clients of an operation, on every response, that it is deprecated (RFC 9745), when it ends (RFC 8594)
 * and what succeeds it (RFC 5829), or that it is not stable yet.
 */
export const lifecycleHeaders = (operation: Operation) => {
  const { deprecation, stability } = operation;
  const constant = {
    ...(deprecation && {
      Deprecation: `@${deprecation.since.getTime() / 1_000}`,
      Sunset: deprecation.sunset.toUTCString(),
    }),
    ...(stability && { 'X-Stability': stability }),
  };
  const addHeaders = ({ event, response }: ChainRequest) => {
    if (response)
      response.headers = {
        ...response.headers,
        ...constant,
        ...(deprecation && { Link: link(event, deprecation.successor, 'successor-version') }),
      };
  };
  return { after: addHeaders, onError: addHeaders };
};

/** Refuses an operation from its sunset on. Throws `endpoint_removed`. */
export const refuseAfterSunset = ({ deprecation }: Operation) => ({
  before: () => {
    if (deprecation && Date.now() >= deprecation.sunset.getTime()) {
      throw errors.endpointRemoved(`GET ${deprecation.successor}`);
    }
  },
});
