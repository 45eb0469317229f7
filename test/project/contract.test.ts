import { describe, expect, it } from 'vitest';
import { departuresFromContract } from '../support/contract.ts';
import type { ClientRequest, ClientResponse } from '../support/http-client.ts';

const rex = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-amz-apigw-id': 'any',
};
const listed: ClientResponse = { status: 200, headers, text: JSON.stringify([rex]) };
const listedWith = (other: ClientResponse['headers']) => ({
  ...listed,
  headers: { ...headers, ...other },
});
const refusal = (status: number, code: string): ClientResponse => ({
  status,
  headers,
  text: JSON.stringify({ code, message: 'No.', status }),
});

const list: ClientRequest = { path: '/pets?limit=5' };
const options: ClientRequest = { method: 'OPTIONS', path: '/pets' };
const allowed: ClientResponse = { status: 204, headers: { ...headers, allow: 'GET' }, text: '' };

// The acceptance tests show that it accepts what the service sends.
describe('departuresFromContract', () => {
  it.each<[string, ClientRequest, ClientResponse]>([
    ['status', list, { ...listed, status: 202 }],
    ['status', list, refusal(404, 'not_found')],
    ['status', { path: '/cats' }, refusal(422, 'idempotency_key_reused')],
    ['status', { method: 'PUT', path: '/pets' }, refusal(404, 'not_found')],
    ['status', options, refusal(405, 'method_not_allowed')],
    ['allow', options, { ...allowed, headers }],
    ['body', options, { ...allowed, text: '{}' }],
    ['body', { ...list, method: 'HEAD' }, listed],
    ['status 400', list, { ...refusal(400, 'invalid_request'), status: 401 }],
    ['code', list, refusal(400, 'not_found')],
    ['x-powered-by', list, listedWith({ 'x-powered-by': 'us' })],
    ['cache-control', list, listedWith({ 'cache-control': 'public' })],
    ['x-amz-apigw-id', list, listedWith({ 'x-amz-apigw-id': undefined })],
    ['link', list, listedWith({ link: '</v1/pets>; rel="prev"' })],
    ['Content-Type', list, listedWith({ 'content-type': 'text/plain' })],
    ['colour', list, { ...listed, text: JSON.stringify([{ ...rex, colour: 'brown' }]) }],
    ['id', list, { ...listed, text: JSON.stringify([{ ...rex, id: '1' }]) }],
  ])('names the %s of %j that departs', (name, request, response) => {
    expect(departuresFromContract(request, response).join()).toContain(name);
  });
});
