import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

export interface ClientRequest {
  readonly method?: string;
  /** Follows the base address as it is, without the normalising that `fetch` and `URL` do. */
  readonly path: string;
  /** Sent in this order; a name may stand twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer | undefined;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

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
    (isSecure ? httpsRequest : httpRequest)(
      {
        hostname,
        port,
        method,
        path: pathname.replace(/\/$/, '') + path,
        headers: sent,
        ...(!isSecure && { agent }),
      },
      (incoming) => {
        const { statusCode: status = 0, headers: received } = incoming;
        text(incoming).then((read) => resolve({ status, headers: received, text: read }), reject);
      },
    )
      .on('error', reject)
      .end(body);
  });
};
