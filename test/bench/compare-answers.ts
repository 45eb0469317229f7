import { deepEqual, equal } from 'node:assert/strict';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { errors } from '../../lib/contract/errors.ts';
import { proxyEvent } from '../support/proxy-event.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { runLambda } from './lambda-process.ts';
import { type RequestName, requestNames, requests } from './requests.ts';

const peers = ['hono', 'powertools', 'express', 'fastify'] as const;

/**
 * Compares what the contenders answer, so that the benchmark measures the same work: each request like the service, and
 * 401 for a wrong key and 400 for a body that is not a pet from each framework. Throws an AssertionError otherwise.
 */
export const compareAnswers = async (contenders: Contenders): Promise<void> => {
  await using standIn = await DynamodbStandIn.start();
  const { environment, apiKey } = standIn;

  /** Status and body of an answer; the id of a new pet is random. */
  const answerOf = async (
    name: ContenderName,
    request: RequestName,
    event: APIGatewayProxyEvent = requests(apiKey)[request],
  ) => {
    const module = contenders[name].moduleFor(request);
    const { invocations } = await runLambda({ module, environment, events: [event] });
    const [{ statusCode, body } = { statusCode: 0, body: '{}' }] = invocations;
    const parsed = JSON.parse(body);
    return { statusCode, body: request === 'createPet' ? { ...parsed, id: 'any' } : parsed };
  };

  for (const request of requestNames) {
    const expected = await answerOf('service', request);
    equal(expected.statusCode, request === 'createPet' ? 201 : 200);
    for (const name of [...peers, 'bare'] as const) {
      deepEqual(await answerOf(name, request), expected, `${name} answers ${request}`);
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
  for (const name of peers) {
    const unauthorized = await answerOf(name, 'getPet', wrongKey);
    deepEqual(unauthorized, { statusCode: 401, body: errors.unauthorized().body }, name);
    const { statusCode, body } = await answerOf(name, 'createPet', notAPet);
    deepEqual([statusCode, body.code, body.status], [400, 'invalid_request', 400], name);
  }
};
