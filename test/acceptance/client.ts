import { setTimeout as pause } from 'node:timers/promises';
import { expect, inject, vi } from 'vitest';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { departuresFromContract } from '../support/contract.ts';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';

export const apiKey = inject('apiKey');

export const authorization = ['Authorization', `Bearer ${apiKey}`] as const;
const jsonType = ['Content-Type', 'application/json'] as const;

/**
 * Sends one request, and holds the response to the OpenAPI document. Without headers of its own the request carries
 * the API key, and JSON where it has a body. A 429 of the stage's throttle, or a 503 of an account that is out of
 * concurrency (10 in a new one), is sent again after its `Retry-After`, at most 20 times.
 */
export const send = async (request: ClientRequest): Promise<ClientResponse> => {
  const sent = {
    headers: request.body === undefined ? [authorization] : [authorization, jsonType],
    ...request,
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await sendTo(inject('baseAddress'), sent);
    expect(departuresFromContract(sent, response), `${sent.method} ${sent.path}`).toEqual([]);
    if (![429, 503].includes(response.status) || attempt > 20) return response;
    await pause(Number(response.headers['retry-after']) * 1_000);
  }
};

/** Sends a request of the typed client like all others. */
const fetchWithinContract: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { status, headers, text } = await send({
    method: request.method,
    path: request.url.slice(inject('baseAddress').length),
    headers: [...request.headers],
    body: (await request.text()) || undefined,
  });
  const received = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    `${value}`,
  ]);
  return new Response(text, { status, headers: received });
};

/** The store through the client that is written for others. */
export const store = new AnimalStore({
  baseAddress: inject('baseAddress'),
  apiKey,
  fetch: fetchWithinContract,
});

/** Adds a pet, given as an object or as JSON text. */
export const create = (pet: unknown, extraHeaders: ClientRequest['headers'] = []) =>
  send({
    method: 'POST',
    path: '/pets',
    headers: [authorization, jsonType, ...extraHeaders],
    body: typeof pet === 'string' ? pet : JSON.stringify(pet),
  });

/** Tries until it succeeds: DynamoDB's reads are eventually consistent. */
export const eventually = <Result>(attempt: () => Promise<Result>): Promise<Result> =>
  vi.waitFor(attempt, { timeout: 20_000, interval: 250 });

/** Holds a response to the Error body of a status and code, and to saying nothing that it must not. */
export const expectError = (response: ClientResponse, status: number, code: string) => {
  expect.soft(response.status, response.text).toBe(status);
  expect.soft(response.headers['content-type']).toBe('application/json');
  expect.soft(response.headers['cache-control']).toBe('no-store');
  const body: unknown = JSON.parse(response.text);
  expect.soft(body).toEqual({ code, message: expect.stringMatching(/\S/), status });
  expectNoLeak(response);
};

/** Holds a response to a 400 whose message says this. */
export const expectInvalid = (response: ClientResponse, message: string | RegExp) => {
  expectError(response, 400, 'invalid_request');
  expect.soft(JSON.parse(response.text).message).toMatch(message);
};

/**
 * Holds a response to an Error body of 400 or 404. For requests of which no AWS page and no recording says whether
 * API Gateway, the firewall or the function refuses them (test/README.md, "What we know about AWS").
 */
export const expectRefused = (response: ClientResponse) => {
  const code = response.status === 400 ? 'invalid_request' : 'not_found';
  expectError(response, response.status === 400 ? 400 : 404, code);
};

/** Holds a response to showing neither key, nor stack, nor what the service is built on. */
export const expectNoLeak = ({ headers, text: body }: ClientResponse) => {
  expect.soft(JSON.stringify(headers) + body).not.toContain(apiKey.slice(10));
  expect.soft(body).not.toMatch(/dynamo|Exception|node_modules|\n\s+at |PetsTable|KeysTable/i);
};
