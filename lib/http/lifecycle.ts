import { ownUserAgent } from '../contract/own-user-agent.ts';
import { deprecationHeaders, type Operation, removalOf } from '../operations/operation.ts';
import { metricNames } from '../telemetry/metric-names.ts';
import type { ChainRequest } from './chain-types.ts';
import { successorLink } from './response.ts';

/**
 * Adds headers to every response: deprecation (RFC 9745), sunset (RFC 8594) and successor (RFC
 * 5829), and the stability. Counts the calls of clients to a deprecated operation, which have a valid key.
 */
export const lifecycleHeaders = (operation: Operation) => {
  const { deprecation, stability } = operation;
  const constant = {
    ...(deprecation && deprecationHeaders(deprecation)),
    ...(stability && { 'X-Stability': stability }),
  };
  const addHeaders = ({ event, context, response }: ChainRequest) => {
    const isOwn = event.requestContext.identity.userAgent === ownUserAgent;
    if (deprecation && context.keyId && !isOwn) context.log.count(metricNames.deprecatedCalls);
    if (!response) return;
    response.headers = { ...response.headers, ...constant };
    // A list needs its own `Link`, to the next page.
    if (deprecation) response.headers['Link'] ??= successorLink(event, deprecation.successor);
  };
  return { after: addHeaders, onError: addHeaders };
};

/** Refuses an operation from its sunset on. Throws `endpoint_removed`. */
export const refuseAfterSunset = (operation: Operation) => ({
  before: () => {
    const removal = removalOf(operation);
    if (removal) throw removal;
  },
});
