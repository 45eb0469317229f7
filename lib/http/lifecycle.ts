import { errors } from '../contract/errors.ts';
import type { Operation } from '../contract/operations.ts';
import { link } from './link.ts';
import type { ChainRequest } from './operation-request.ts';

/**
 * Adds headers to every response: deprecation (RFC 9745), sunset (RFC 8594) and successor (RFC
 * 5829), and the stability.
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
    if (!response) return;
    response.headers = { ...response.headers, ...constant };
    if (deprecation) {
      response.headers['Link'] = link(event, deprecation.successor, 'successor-version');
    }
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
