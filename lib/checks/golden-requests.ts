import { newRequestIds, proxyEvent } from '../api-gateway/proxy-event.ts';
import { errors } from '../contract/errors.ts';
import { ownUserAgent } from '../contract/own-user-agent.ts';
import type { FunctionName } from '../contract/routes.ts';
import { generateApiKey } from '../keys/api-key.ts';
import { createPet, createPetCheck } from '../operations/create-pet.ts';
import { isRemoved, type Operation } from '../operations/operation.ts';
import { expectError, type OperationCheck } from '../operations/operation-check.ts';
import { checkOf, operations } from '../operations/operations.ts';

/** The target of a request: an operation, or the function of all other paths. */
type GoldenTarget = Pick<Operation, 'method' | 'path' | 'headers' | 'deprecation'> & {
  readonly name: FunctionName;
};

const fallback: GoldenTarget = { name: 'fallback', method: 'GET', path: '/{proxy+}', headers: [] };

/**
 * Returns the requests that every operation refuses: one without an API key, and one with a
 * key that nobody has issued.
 */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const unknownKey = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const expected = expectError(errors.unauthorized());
  return operations.flatMap((target) => [
    golden({ target, expected }),
    golden({ target, apiKey: unknownKey, expected }),
  ]);
};

/** Returns the creation of the check's pet. */
export const creation = (apiKey: string): GoldenRequest =>
  goldenOf(createPet, createPetCheck(), apiKey);

/** Returns a request to every other function; `petId` is that of the pet that the check has added. */
export const afterCreation = (apiKey: string, petId: number): GoldenRequest[] => [
  ...operations
    .filter((each) => each !== createPet)
    .map((each) => goldenOf(each, checkOf(each.name, petId), apiKey)),
  golden({ target: fallback, apiKey, expected: expectError(errors.unknownPath()) }),
];

/** The request to an operation. Its response is 410 from the operation's sunset on. */
const goldenOf = (target: Operation, check: OperationCheck, apiKey: string): GoldenRequest => {
  if (!isRemoved(target)) return golden({ ...check, target, apiKey });
  const removed = errors.endpointRemoved(`GET ${target.deprecation?.successor}`);
  return golden({ ...check, target, apiKey, expected: expectError(removed) });
};

/** The id of no pet. A version that refuses no API key must not change a pet of the catalogue. */
const noPetId = Number.MAX_SAFE_INTEGER;

/** Golden requests call functions directly, without an API. */
const api = { accountId: 'none', apiId: 'deployment-check' };

interface GoldenParts extends OperationCheck {
  readonly target: GoldenTarget;
  readonly apiKey?: string;
}

/** Returns a request in the form in which API Gateway calls a function, and the response that it must get. */
const golden = (parts: GoldenParts) => {
  const { target, apiKey, attempts = 1, expected } = parts;
  const { name, method, path: resourcePath } = target;
  const pathParameters: Record<string, string> = {};
  const path = resourcePath.replace(/{([^}]+)}/g, (_template, parameter: string) => {
    const value = `${parts.path?.[parameter] ?? noPetId}`;
    pathParameters[parameter] = value;
    return value;
  });
  const query = new URLSearchParams(parts.query).toString();
  const body = parts.body ? JSON.stringify(parts.body) : '';
  const request = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({
      'User-Agent': ownUserAgent,
      ...authorization(apiKey),
      ...(body !== '' && { 'Content-Type': 'application/json' }),
      ...(target.headers.includes('Idempotency-Key') && { 'Idempotency-Key': 'deployment-check' }),
    }),
    port: 443,
  };
  return {
    functionName: name,
    attempts,
    event: proxyEvent(request, { api, stage: 'v1', path, resourcePath, pathParameters }, body),
    ...expected,
    headers: {
      ...(expected.status !== 204 && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      ...deprecationHeaders(target),
      ...expected.headers,
    },
  };
};

const authorization = (apiKey: string | undefined) =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

/** Returns the headers of a deprecated operation (RFC 9745 and RFC 8594). */
const deprecationHeaders = ({ deprecation }: GoldenTarget) =>
  deprecation === undefined
    ? {}
    : {
        Deprecation: `@${deprecation.since.getTime() / 1_000}`,
        Sunset: deprecation.sunset.toUTCString(),
      };

/** A request to a function, and the response that it must get. */
export type GoldenRequest = ReturnType<typeof golden>;
