import { deepEqual, equal } from 'node:assert/strict';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { errors } from '../../lib/contract/errors.ts';
import { proxyEvent } from '../support/proxy-event.ts';
import type { Contenders, Program } from './contenders.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { runLambda } from './lambda-process.ts';
import { type RequestName, requestNames, requests } from './requests.ts';

/** Those that check the API key and the body. */
const frameworks = ['hono', 'powertools'] as const;

/**
 * Compares the responses of the contenders, so that the benchmark measures the same work: each must be that
 * of the service, and frameworks return 401 for a wrong key and 400 for a body that is not a pet. Throws an
 * AssertionError otherwise.
 */
export const compareResponses = async (contenders: Contenders): Promise<void> => {
  await using standIn = await DynamodbStandIn.start();
  const { environment, apiKey } = standIn;

  /** Status and body of a response, without the random id of a new pet. */
  const responseOf = async (
    program: Program,
    request: RequestName,
    event: APIGatewayProxyEvent = requests(apiKey)[request],
  ) => {
    const module = contenders(program, 'defaults', request);
    const { invocations } = await runLambda({ module, environment, events: [event] });
    const [{ statusCode, body } = { statusCode: 0, body: '{}' }] = invocations;
    const parsed = JSON.parse(body);
    return { statusCode, body: request === 'createPet' ? { ...parsed, id: 'any' } : parsed };
  };

  for (const request of requestNames) {
    const expected = await responseOf('service', request);
    equal(expected.statusCode, request === 'createPet' ? 201 : 200);
    for (const program of ['bare-sigv4', 'aws-lite', 'sdk-call', ...frameworks] as const) {
      deepEqual(await responseOf(program, request), expected, `${program} responds to ${request}`);
    }
  }

  const wrongKey = proxyEvent({
    resource: '/pets/{petId}',
    petId: '1',
    headers: { Authorization: 'Bearer nonsense' },
  });
  const notAPet = proxyEvent({
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Content-Length': '10',
    },
    body: '{"name":5}',
  });
  for (const name of frameworks) {
    const unauthorized = await responseOf(name, 'getPet', wrongKey);
    deepEqual(unauthorized, { statusCode: 401, body: errors.unauthorized().body }, name);
    const { statusCode, body } = await responseOf(name, 'createPet', notAPet);
    deepEqual([statusCode, body.code, body.status], [400, 'invalid_request', 400], name);
  }
};
