import { deepEqual, equal } from 'node:assert/strict';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { errors } from '../../lib/contract/errors.ts';
import { proxyEvent } from '../support/proxy-event.ts';
import { type ContenderName, type Contenders, peerNames } from './contenders.ts';
import { runLambda } from './lambda-process.ts';
import { type RequestName, requestNames, requests } from './requests.ts';
import { startTlsStandIn } from './tls-stand-in.ts';

/**
 * Compares the responses of the contenders, so that the benchmark measures the same work: each must be that
 * of the service, and frameworks return 401 for a wrong key and 400 for a body that is not a pet. Throws an
 * AssertionError otherwise.
 */
export const compareAnswers = async (contenders: Contenders): Promise<void> => {
  await using standIn = await startTlsStandIn();
  const { environment, apiKey } = standIn;

  /** Status and body of a response, without the random id of a new pet. */
  const answerOf = async (
    name: ContenderName,
    request: RequestName,
    event: APIGatewayProxyEvent = requests(apiKey)[request],
  ) => {
    const module = contenders[name](request);
    const { invocations } = await runLambda({ module, environment, events: [event] });
    const [{ statusCode, body } = { statusCode: 0, body: '{}' }] = invocations;
    const parsed = JSON.parse(body);
    return { statusCode, body: request === 'createPet' ? { ...parsed, id: 'any' } : parsed };
  };

  for (const request of requestNames) {
    const expected = await answerOf('absent', request);
    equal(expected.statusCode, request === 'createPet' ? 201 : 200);
    for (const name of [...peerNames, 'bare'] as const) {
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
  for (const name of peerNames) {
    const unauthorized = await answerOf(name, 'getPet', wrongKey);
    deepEqual(unauthorized, { statusCode: 401, body: errors.unauthorized().body }, name);
    const { statusCode, body } = await answerOf(name, 'createPet', notAPet);
    deepEqual([statusCode, body.code, body.status], [400, 'invalid_request', 400], name);
  }
};
