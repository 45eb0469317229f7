import type { Route } from './rest-api-definition.ts';

/** A route that a request takes, and the values of its path parameters, percent-encoded as they came. */
export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The methods that `ANY` includes. */
const anyMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/**
 * Finds a request's route as API Gateway does. First the resource: segment by segment a literal comes before a
 * parameter, and that before a greedy one. Then the resource's method: itself before `ANY`.
 */
export const matchRoute = (
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch | undefined => {
  const [best] = routes
    .flatMap((route) => {
      const pathParameters = matchPath(route.resourcePath, path);
      return pathParameters ? [{ route, pathParameters }] : [];
    })
    .sort((one, other) => compare(rankOf(one.route), rankOf(other.route)));
  const ofResource = routes.filter(({ resourcePath }) => resourcePath === best?.route.resourcePath);
  const route =
    ofResource.find((candidate) => candidate.method === method) ??
    ofResource.find((candidate) => candidate.method === 'ANY' && anyMethods.has(method));
  return best && route && { route, pathParameters: best.pathParameters };
};

/** Without a slash at the end, which makes no difference to API Gateway (aws/aws-sam-cli#1495). */
const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/').slice(1);

const matchPath = (resourcePath: string, path: string): Record<string, string> | undefined => {
  const given = segmentsOf(path);
  const expected = segmentsOf(resourcePath);
  const parameters: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    const parameter = /^\{([^+}]+)(\+?)\}$/.exec(segment);
    const name = parameter?.[1];
    const value = parameter?.[2] ? given.slice(index).join('/') : given[index];
    if (name === undefined ? value !== segment : !value) return undefined;
    if (name !== undefined && value !== undefined) parameters[name] = value;
    if (parameter?.[2]) return parameters;
  }
  return given.length === expected.length ? parameters : undefined;
};

/** Sorts text by text: a literal segment before a parameter, before a greedy one. */
const rankOf = ({ resourcePath }: Route): string =>
  segmentsOf(resourcePath)
    .map((segment) => (segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0'))
    .join('');

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
