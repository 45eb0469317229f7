import { describe, expect, it } from 'vitest';
import type { ClientRequest } from '../support/http-client.ts';
import { apiKey, create, eventually, expectNoLeak, send } from './client.ts';

/** Headers that a response to HEAD may lack (RFC 9110 §9.3.2), and those of the connection. */
const incidental = /^(connection|content-length|keep-alive|transfer-encoding)$/;

const answerTo = async (request: ClientRequest) => {
  const response = await send(request);
  const headers = Object.keys(response.headers).filter((name) => !incidental.test(name));
  return { ...response, outcome: { status: response.status, headers: headers.toSorted() } };
};

const expectLikeGet = (request: ClientRequest, status: number) =>
  eventually(async () => {
    const head = await answerTo({ ...request, method: 'HEAD' });
    expect(head.status).toBe(status);
    expect(head.text).toBe('');
    expect(head.outcome).toEqual((await answerTo(request)).outcome);
    expectNoLeak(head);
  });

const wrongKey = [['Authorization', `Bearer ${apiKey}0`]] as const;

describe('HEAD', () => {
  it('answers like GET for a pet, without the body', async () => {
    const { id } = JSON.parse((await create({ name: 'Rex', categoryId: 1 })).text);
    await expectLikeGet({ path: `/pets/${id}` }, 200);
  });

  it.each<[number, ClientRequest]>([
    [200, { path: '/pets?limit=1' }],
    [400, { path: '/pets?limit=0' }],
    [401, { path: '/pets', headers: [] }],
    [401, { path: '/pets', headers: wrongKey }],
    [401, { path: '/pets/1', headers: wrongKey }],
    [404, { path: '/pets/1' }],
    [404, { path: '/cats' }],
  ])('answers %i like GET to %j, without the body', async (status, request) => {
    await expectLikeGet(request, status);
  });
});
