import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { ownUserAgent } from '../../lib/contract/own-user-agent.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { definition as getPet } from '../../lib/operations/get-pet.ts';
import { removalOf } from '../../lib/operations/operation.ts';
import type { ClientRequest } from '../support/http-client.ts';

interface SmokeRequest {
  readonly title: string;
  readonly request: ClientRequest;
  /** The error that the response has; without it, the response is a list of pets. */
  readonly error?: ApiError;
}

/** What a release sends to prod: it only reads. The requests say that they are no client's. */
export const smokeRequests = (apiKey: string): readonly SmokeRequest[] => {
  const requestTo = (path: string, key = apiKey): ClientRequest => ({
    path,
    headers: [
      ['Authorization', `Bearer ${key}`],
      ['User-Agent', ownUserAgent],
    ],
  });
  return [
    { title: 'lists pets for the holder of an API key', request: requestTo('/pets?limit=1') },
    {
      title: 'refuses an API key that nobody has',
      request: requestTo('/pets', generateApiKey('pets_test')),
      error: errors.unauthorized(),
    },
    {
      title: 'has no such pet, or no operation that gets one any more',
      request: requestTo('/pets/1'),
      error: removalOf(getPet) ?? errors.notFound(),
    },
    { title: 'has no such path', request: requestTo('/'), error: errors.unknownPath() },
  ];
};
