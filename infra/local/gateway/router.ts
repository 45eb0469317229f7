import type { Route } from './rest-api-definition.ts';

/** The methods that `ANY` includes. */
const anyMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/**
 * Finds a request's route as API Gateway does, and the values of its path parameters, percent-encoded as they came.
 * First the resource: segment by segment a literal comes before a parameter, and that before a greedy one. Then the
 * resource's method: itself before `ANY`.
 */
export const matchRoute = (routes: readonly Route[], method: string, path: string) => {
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

/** Parameters such as `{petId}` and `{proxy+}` become named groups. */
const segmentPattern = (segment: string): string => {
  const [, name, greedy] = /^\{(\w+)(\+?)\}$/.exec(segment) ?? [];
  return name ? `(?<${name}>${greedy ? '.' : '[^/]'}+)` : RegExp.escape(segment);
};

/** Sorts text by text: a literal segment before a parameter, before a greedy one. */
const rankOf = ({ resourcePath }: Route): string =>
  resourcePath.replace(/[^/]+/g, (segment) =>
    segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0',
  );
