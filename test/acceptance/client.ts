import { setTimeout as pause } from 'node:timers/promises';
import { chai, expect } from 'vitest';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { expectPromised, UnpromisedResponse } from '../support/expect-promised.ts';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';
import { shared } from '../support/shared.ts';

export const baseAddress = shared('baseAddress');
export const apiKey = shared('apiKey');
/** What may be wrong if a response is not from the service. */
const suspicion = /\/v1\/*$/.test(baseAddress) ? '' : `: ${baseAddress} may lack /v1`;

export const authorization = ['Authorization', `Bearer ${apiKey}`] as const;
const jsonType = ['Content-Type', 'application/json'] as const;

/**
 * Sends one request and expects a response as the OpenAPI document and the service promise, without a leak.
 * By default the request has the API key, and with a body the type JSON. Retries a 429 of the stage's
 * throttle, or a 503 of an account that is out of concurrency (10 in a new one), after its `Retry-After`, at
 * most 20 times.
 */
export const send = async (request: ClientRequest): Promise<ClientResponse> => {
  const sent = {
    method: 'GET',
    headers: request.body === undefined ? [authorization] : [authorization, jsonType],
    ...request,
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await sendTo(baseAddress, sent);
    // Checked first, because the assertions after it show the response.
    if (secret.test(JSON.stringify(response.headers) + response.text))
      throw new UnpromisedResponse('The response repeats an API key');
    expectPromised(sent, response, suspicion);
    if (response.status >= 400) expect(response.text).not.toMatch(internals);
    if (![429, 503].includes(response.status) || attempt > 20) return response;
    await pause(Number(response.headers['retry-after']) * 1_000);
  }
};

/** Returns an error response that says what is wrong, because the client would retry a fetch that throws. */
const asErrorResponse = (error: unknown): ClientResponse => {
  if (!(error instanceof UnpromisedResponse)) throw error;
  const body = { code: 'unpromised_response', message: error.message, status: 418 };
  return { status: body.status, headers: {}, text: JSON.stringify(body) };
};

/** Sends a request of the typed client as `send` does. */
const fetchWithinContract: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  if (request.method === 'POST' && !request.headers.has('Idempotency-Key'))
    throw new Error('The typed client must send an Idempotency-Key, because it repeats a POST');
  const { status, headers, text } = await send({
    method: request.method,
    path: request.url.slice(baseAddress.length),
    headers: [...request.headers],
    body: (await request.text()) || undefined,
  }).catch(asErrorResponse);
  const received = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    `${value}`,
  ]);
  return new Response(text || null, { status, headers: received });
};

/** The typed client that the project publishes. */
export const store = new AnimalStore({
  baseAddress,
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

/** Tries for 20 s, until all expectations are met. For lists, which are eventually consistent. */
export const eventually = async (attempt: () => Promise<void>): Promise<void> => {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const canPass = error instanceof chai.AssertionError;
      if (!canPass || performance.now() - startedAt > 20_000) throw error;
      await pause(250);
    }
  }
};

/** Expects an error of a status and code. */
export const expectError = ({ status, text }: ClientResponse, expected: number, code: string) => {
  expect.soft(status, text).toBe(expected);
  expect.soft(JSON.parse(text).code).toBe(code);
};

/** Expects a 400 with this message. */
export const expectInvalid = (response: ClientResponse, message: string | RegExp) => {
  expectError(response, 400, 'invalid_request');
  expect.soft(JSON.parse(response.text).message).toMatch(message);
};

/** The digits of an API key, or all but one. */
const secret = /[0-9a-f]{71}/i;

/** A stack trace, or the name of a library or of a table, which has its id in the stack, as PetsTable. */
const internals = /[Dd]ynamo|[Ee]xception|node_modules|\n\s+at |[a-z]Table/;
