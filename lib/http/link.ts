import type { OperationEvent } from './operation-request.ts';

/**
 * A web link (RFC 8288) to a path of this service, without a host, so that it works under
 * every domain name of the API.
 */
export const link = (event: OperationEvent, path: string, relation: string): string =>
  `<${basePathOf(event)}${path}>; rel="${relation}"`;

/** The `Link` header to the page after this one, if there is one: with the same query and the cursor. */
export const nextLink = (
  event: OperationEvent,
  query: { readonly limit: number; readonly status?: string | undefined },
  cursor: string | undefined,
) => {
  if (cursor === undefined) return {};
  const { limit, status } = query;
  const next = new URLSearchParams({ limit: `${limit}`, ...(status && { status }), cursor });
  return { Link: link(event, `${event.resource}?${next}`, 'next') };
};

/**
 * The request's own path up to the resource: the stage, or a custom domain's base path, which the path has
 * instead of the stage (localstack/localstack#12295).
 */
const basePathOf = ({ requestContext, resource }: OperationEvent): string => {
  // API Gateway ignores a slash at the end when it routes, but passes it on.
  const segments = requestContext.path.replace(/\/$/, '').split('/');
  const resourceSegments = resource.replace(/^\//, '').split('/');
  return segments.slice(0, segments.length - resourceSegments.length).join('/');
};
