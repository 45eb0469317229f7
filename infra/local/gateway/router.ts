import type { RestApiMethod } from './rest-api-definition.ts';

/** The methods that `ANY` includes. */
const anyMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/**
 * Finds a request's route as API Gateway does, and the values of its path parameters, which stay
 * percent-encoded. It chooses the resource first: in each segment it prefers a literal to a parameter, and a
 * parameter to a greedy one. Then it chooses the method, and prefers the request's own method to `ANY`.
 */
export const matchRoute = (routes: readonly RestApiMethod[], method: string, path: string) => {
  // A slash at the end makes no difference to API Gateway (aws/aws-sam-cli#1495).
  const given = path.replace(/\/$/, '') || '/';
  const matching = routes
    .filter(({ resourcePath }) => patternOf(resourcePath).test(given))
    .toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1));
  const ofBest = matching.filter(({ resourcePath }) => resourcePath === matching[0]?.resourcePath);
  const route =
    ofBest.find((candidate) => candidate.method === method) ??
    ofBest.find((candidate) => candidate.method === 'ANY' && anyMethods.has(method));
  return (
    route && {
      ...route,
      pathParameters: { ...patternOf(route.resourcePath).exec(given)?.groups },
    }
  );
};

const patternOf = (resourcePath: string) =>
  new RegExp(`^${resourcePath.split('/').map(segmentPattern).join('/')}$`);

/** Returns the pattern of a segment. Parameters such as `{petId}` and `{proxy+}` become named groups. */
const segmentPattern = (segment: string): string => {
  const [, name, greedy] = /^\{(\w+)(\+?)\}$/.exec(segment) ?? [];
  return name ? `(?<${name}>${greedy ? '.' : '[^/]'}+)` : RegExp.escape(segment);
};

/**
 * Returns a sort key that has a digit for each segment: 0 for a literal, 1 for a
 * parameter, 2 for a greedy one.
 */
const rankOf = ({ resourcePath }: RestApiMethod): string =>
  resourcePath.replace(/[^/]+/g, (segment) =>
    segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0',
  );
