import type { FunctionName } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import { proxyEvent } from './proxy-event.ts';
import { bearer, exampleOf } from './requests.ts';

/**
 * Returns a valid request for a function, as an event, and the status of its response. A pet in its path has
 * this id.
 */
export const exampleRequest = (name: FunctionName, apiKey: string, petId = 1) => {
  const headers = { ...bearer(apiKey), 'Content-Type': 'application/json' };
  const operation = operations.find((each) => each.name === name);
  const request = operation ? exampleOf(operation, petId) : { resource: '/{proxy+}' };
  return { event: proxyEvent({ ...request, headers }), status: operation?.successStatus ?? 404 };
};
