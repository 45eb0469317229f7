import type { APIGatewayProxyEvent } from 'aws-lambda';
import { apiVersion } from '../contract/api-version.ts';
import type { Route } from '../contract/routes.ts';
import type { ExampleRequest } from '../operations/operation-details.ts';
import { createProxyEvent } from './create-proxy-event.ts';
import { newRequestIds } from './gateway-request.ts';

/** These requests call functions directly, without an API. */
const api = { accountId: 'none', apiId: 'none' };

/** An id that nothing has, for a parameter in a path that has no value. */
const noId = Number.MAX_SAFE_INTEGER;

/** Creates the event for a request to a route, with these headers, as API Gateway would create it. */
export const createDirectEvent = (
  { method, path: resourcePath }: Pick<Route, 'method' | 'path'>,
  request: ExampleRequest,
  headers: Readonly<Record<string, string>>,
): APIGatewayProxyEvent => {
  const pathParameters: Record<string, string> = {};
  const path = resourcePath.replace(/{([^}]+)}/g, (_template, parameter: string) => {
    const value = `${request.path?.[parameter] ?? noId}`;
    pathParameters[parameter] = value;
    return value;
  });
  const body = request.body ? JSON.stringify(request.body) : '';
  const sent = {
    ...newRequestIds(),
    method,
    path: `/${apiVersion}${path}`,
    query: new URLSearchParams(request.query).toString(),
    headers: Object.entries({
      ...headers,
      ...(body !== '' && { 'Content-Type': 'application/json' }),
    }),
    port: 443,
  };
  const target = { api, stage: apiVersion, path, resourcePath, pathParameters };
  return createProxyEvent(sent, target, body);
};
