import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { nextLink, success, successorLink } from '../../lib/http/response.ts';
import { definition as listPets } from '../../lib/operations/list-pets.ts';
import { smokeRequests } from '../acceptance/smoke-requests.ts';
import { captureLog, readLines } from '../support/captured-log.ts';
import { bearer, creation, type EventParts, eventWith } from '../support/events.ts';
import { invoke, startHandlerGateway, startHandlers } from '../support/handlers.ts';
import { sendTo } from '../support/http-client.ts';

const service = await startHandlers();
const gateway = await startHandlerGateway(service);
afterAll(() => gateway.stop());
const { id: petId } = (await service.send(creation())).body;

afterEach(() => void vi.useRealTimers());

const sunset = Date.UTC(2030, 11, 5);

describe('getPet', () => {
  it.each<[status: number, when: string, instant: number, EventParts]>([
    [200, 'in the last millisecond before its sunset', sunset - 1, {}],
    [410, 'from its sunset on', sunset, {}],
    [401, 'without a valid key, also after its sunset', sunset, { headers: bearer('no key') }],
  ])(
    'returns %i %s, and names its end and its successor',
    async (expected, _when, instant, parts) => {
      vi.setSystemTime(instant);
      const { status, body, headers } = await service.send({ path: { petId }, ...parts });
      expect(status).toBe(expected);
      expect(headers).toMatchObject({
        Deprecation: '@1795219200',
        Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
        Link: '</v1/pets>; rel="successor-version"',
      });
      if (status !== 410) return;
      const message = expect.stringContaining('GET /pets');
      expect(body).toEqual({ code: 'endpoint_removed', message, status: 410 });
    },
  );
});

it('from the sunset of getPet on, the smoke test gets what it expects, and is no call of a client', async () => {
  const lines = captureLog();
  vi.setSystemTime(sunset);
  for (const { request, error } of smokeRequests(service.apiKey)) {
    const { status, text } = await sendTo(gateway.baseAddress, request);
    expect(status, text).toBe(error?.status ?? 200);
    if (error) expect(JSON.parse(text)).toEqual(error.body);
  }
  const ofGetPet = readLines(lines.filter((line) => line.includes('"getPet"')));
  expect(ofGetPet).toEqual([expect.not.objectContaining({ DeprecatedCalls: 1 })]);
});

describe('a link', () => {
  it.each([
    ['/pets/7', '/pets'],
    ['/store/v1/pets/7', '/store/v1/pets'],
  ])('of a request to %s leads to %s', (path, expected) => {
    const event = eventWith({ path: { petId: '7' } });
    const requestContext = { ...event.requestContext, path };
    const link = successorLink({ ...event, requestContext }, '/pets');
    expect(link).toBe(`<${expected}>; rel="successor-version"`);
  });
});

it('the link to the next page of a list has the parameters of its path', () => {
  const event = eventWith({ resource: '/stores/{storeId}/pets' });
  const requestContext = { ...event.requestContext, path: '/v1/stores/7/pets/' };
  const { Link } = nextLink({ ...event, requestContext }, { limit: 1 }, 'abc');
  expect(Link).toBe('</v1/stores/7/pets?limit=1&cursor=abc>; rel="next"');
});

describe('a stability marker', () => {
  it.each(['experimental', 'beta'] as const)('%s is sent as X-Stability', async (stability) => {
    const { operationChain } = await import('../../lib/http/chain.ts');
    const chain = operationChain({ ...listPets, stability });
    const handler = chain.handler(async () => success(listPets, []));
    const { headers } = await invoke(handler, { headers: bearer(service.apiKey) });
    expect(headers).toMatchObject({ 'X-Stability': stability });
  });
});
