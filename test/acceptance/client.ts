import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect, inject } from 'vitest';

const baseAddress = inject('baseAddress').replace(/\/$/, '');

export const apiKey = inject('apiKey');

export interface ClientRequest {
  readonly method?: string;
  /** Sent as it is, without the normalising that `fetch` and `URL` do. */
  readonly path: string;
  /** Sent in this order; a name may stand twice. Without it: the API key, and JSON where there is a body. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer | undefined;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export const authorization = ['Authorization', `Bearer ${apiKey}`] as const;
const jsonType = ['Content-Type', 'application/json'] as const;

/** Sends one request below the base address. */
export const send = async ({ method = 'GET', path, headers, body }: ClientRequest) => {
  const { protocol, hostname, port, pathname } = new URL(baseAddress);
  const request = protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise<ClientResponse>((resolve, reject) => {
    const sent = headers ?? (body === undefined ? [authorization] : [authorization, jsonType]);
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path: pathname + path,
        headers: [
          ['Host', port ? `${hostname}:${port}` : hostname],
          ...sent,
          ...(body === undefined ? [] : [['Content-Length', `${Buffer.byteLength(body)}`]]),
        ].flat(),
      },
      async (incoming) => {
        try {
          const { statusCode: status = 0, headers: received } = incoming;
          resolve({ status, headers: received, text: await text(incoming) });
        } catch (error) {
          reject(error);
        }
      },
    );
    outgoing.on('error', reject).end(body);
  });
};

/** Adds a pet, given as an object or as JSON text. */
export const create = (pet: unknown, extraHeaders: ClientRequest['headers'] = []) =>
  send({
    method: 'POST',
    path: '/pets',
    headers: [authorization, jsonType, ...extraHeaders],
    body: typeof pet === 'string' ? pet : JSON.stringify(pet),
  });

/** Holds a response to the Error body of a status and code, and to saying nothing that it must not. */
export const expectError = (response: ClientResponse, status: number, code: string) => {
  expect.soft(response.status, response.text).toBe(status);
  expect.soft(response.headers['content-type']).toBe('application/json');
  const body: unknown = JSON.parse(response.text);
  expect.soft(body).toEqual({ code, message: expect.stringMatching(/\S/), status });
  expectNoLeak(response);
};

/** Holds a response to showing neither key, nor stack, nor what stands behind the service. */
export const expectNoLeak = ({ headers, text: body }: ClientResponse) => {
  const seen = JSON.stringify(headers) + body;
  expect.soft(seen).not.toContain(apiKey.slice(10));
  expect.soft(seen).not.toMatch(/dynamo|Exception|node_modules|\n\s+at |PetsTable|KeysTable/i);
};
