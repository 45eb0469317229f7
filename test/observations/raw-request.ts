import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawRequest {
  readonly method?: string;
  /** What follows the base address, as it is sent. */
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Each character is sent as one byte. */
  readonly body?: string;
  /** Leaves out the header Host. */
  readonly withoutHost?: true;
}

/**
 * What is recorded of a response: nothing that differs from one request to the next, and nothing of a body
 * but the `code` of an Error, because a body can repeat the API key.
 */
export interface Observed {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly hasContentLength: boolean;
  readonly errorType: string | undefined;
  readonly hasExtendedRequestId: boolean;
  readonly code: string | undefined;
}

/** Returns what arrives until the end. A server can respond and close before it has read a whole request. */
const receive = async (socket: Socket): Promise<string> => {
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
  });
  await new Promise<void>((resolve) => {
    socket.on('error', () => resolve()).on('close', () => resolve());
  });
  return received;
};

/**
 * Sends bytes that no HTTP client would send, and returns what is recorded of the response. Returns
 * `no response` if there is none within 60 s.
 */
export const observe = async (
  baseAddress: string,
  request: RawRequest,
): Promise<Observed | 'no response'> => {
  const { protocol, hostname, port, pathname } = new URL(baseAddress);
  const { method = 'GET', path, headers = [], body = '', withoutHost } = request;
  const secure = protocol === 'https:';
  // Not every machine finds the names that end with .localhost.
  const address = hostname.endsWith('.localhost') ? '127.0.0.1' : hostname;
  const socket = secure
    ? connectTls({ host: address, port: Number(port || 443), servername: hostname })
    : connectTcp(Number(port || 80), address);
  const host = port ? `${hostname}:${port}` : hostname;
  const lines = [
    `${method} ${pathname}${path} HTTP/1.1`,
    ...(withoutHost ? [] : [`Host: ${host}`]),
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
  ];
  socket.setTimeout(60_000, () => socket.destroy());
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  const response = await receive(socket);
  if (response === '') return 'no response';
  const end = response.indexOf('\r\n\r\n');
  const [statusLine = '', ...found] = response.slice(0, end).split('\r\n');
  const headerOf = (name: string) =>
    found.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
  return {
    status: Number(statusLine.split(' ')[1]),
    contentType: headerOf('content-type'),
    hasContentLength: headerOf('content-length') !== undefined,
    errorType: headerOf('x-amzn-errortype'),
    hasExtendedRequestId: headerOf('x-amz-apigw-id') !== undefined,
    code: /"code": ?"([^"]*)"/.exec(response.slice(end + 4))?.[1],
  };
};
