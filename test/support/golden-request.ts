import { afterCreation, creation, type GoldenRequest } from '../../lib/checks/golden-requests.ts';
import type { HandlerName } from './load-handlers.ts';

/** Returns the request that checks a new version of a function. A pet in its path has this id. */
export const goldenRequest = (name: HandlerName, apiKey: string, petId = 1): GoldenRequest => {
  const requests = [creation(apiKey), ...afterCreation(apiKey, petId)];
  const found = requests.find(({ functionName }) => functionName === name);
  if (!found) throw new Error(`There is no golden request to ${name}`);
  return found;
};
