import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';

export interface ClientRequest {
  readonly method?: string;
  /** The path, which is appended to the base address unchanged. `fetch` and `URL` would normalise it. */
  readonly path: string;
  /** The headers, which are sent in this order. A name may be repeated. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer | undefined;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

// A deployed stage gets 10 requests at once from the 5 workers of `vitest.config.ts`, because a new account
// runs 10 instances of functions.
const httpsAgent = new https.Agent({ keepAlive: true, maxSockets: 2, proxyEnv: process.env });

/** Sends one request below a base address, byte for byte as it is given. */
export const sendTo = (
  baseAddress: string,
  { method = 'GET', path, headers = [], body }: ClientRequest,
): Promise<ClientResponse> => {
  const { protocol, hostname, port, pathname } = new URL(baseAddress);
  const isSecure = protocol === 'https:';
  const sent = [
    ['Host', port ? `${hostname}:${port}` : hostname],
    ...headers,
    ...(body === undefined ? [] : [['Content-Length', `${Buffer.byteLength(body)}`]]),
  ].flat();
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request({
      hostname,
      port,
      // Every name under localhost is loopback (RFC 6761, section 6.3), but not every resolver knows it.
      ...(hostname.endsWith('.localhost') && { hostname: '127.0.0.1', servername: hostname }),
      method,
      path: pathname.replace(/\/$/, '') + path,
      headers: sent,
      // A local server may close a connection that was kept just when a busy machine sends a request on it.
      agent: isSecure ? httpsAgent : false,
    });
    request.on('error', reject).end(body);
    request.on('response', (incoming) => {
      const { statusCode: status = 0, headers: received } = incoming;
      text(incoming).then((read) => resolve({ status, headers: received, text: read }), reject);
    });
  });
};
