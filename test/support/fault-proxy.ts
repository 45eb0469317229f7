import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** One request on its way from the SDK to DynamoDB. */
interface ProxiedRequest {
  readonly incoming: IncomingMessage;
  /** The body of the request. */
  readonly request: Buffer;
  readonly response: ServerResponse;
  /** Action and table of DynamoDB, as in `Query Pets`, or another request as in `GET /v1/pets`. */
  readonly call: string;
  /** Sends the request, or another body, to DynamoDB, and returns the response without passing it on. */
  readonly forward: (body?: string) => Promise<{
    status: number;
    headers: IncomingMessage['headers'];
    body: Buffer;
  }>;
}

/** A fault, which happens to a request instead of a round trip to DynamoDB. */
export type Fault = (exchange: ProxiedRequest) => Promise<void> | void;

/** Waits by the clock of the handlers, which `startHandlers` slows. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const respond =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Fault =>
  ({ response }) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0', ...headers })
      .end(body);

const html = { 'Content-Type': 'text/html' };

/** An error response of an AWS service; `details` may replace its message. */
export const awsError = (status: number, type: string, details: object = {}): Fault =>
  respond(status, JSON.stringify({ __type: type, message: 'TABLE-AND-KEY-TEXT', ...details }));

const dynamodbPrefix = 'com.amazonaws.dynamodb.v20120810#';
const throttling = (type: string) => {
  const reason = 'TableWriteKeyRangeThroughputExceeded';
  const throttlingReasons = [{ reason, resource: 'arn:aws:dynamodb:::table/T' }];
  return awsError(400, type, { throttlingReasons });
};

/** Responds with DynamoDB's own status and headers; `send` sends its body. */
export const forwarded =
  (send: (response: ServerResponse, body: Buffer) => unknown): Fault =>
  async ({ response, forward }) => {
    const { status, headers, body } = await forward();
    await send(response.writeHead(status, headers), body);
  };

/** No fault: DynamoDB's own response. */
export const passOn = forwarded((response, body) => response.end(body));

/** Lets something else happen first, and then returns DynamoDB's own response. */
export const passOnAfter =
  (work: (exchange: ProxiedRequest) => unknown): Fault =>
  async (exchange) => {
    await work(exchange);
    await passOn(exchange);
  };

/**
 * The fault of a write whose condition is not met by this item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export const conditionFailedBy = (Item: object): Fault =>
  awsError(400, `${dynamodbPrefix}ConditionalCheckFailedException`, { Item });

/** Returns a fault that responds with 200 and this body. */
export const respondWith = (body: string): Fault => respond(200, body);

/**
 * Sends the real headers, and then the real body byte by byte, until the client gives up. Each byte comes
 * within the second that an attempt may take, but not the two of `{}`.
 */
const dripping = forwarded(async (response, body) => {
  response.flushHeaders();
  for (const byte of body) {
    await pause(700);
    if (response.destroyed) return;
    response.write(Uint8Array.of(byte));
  }
  response.end();
});

/** Faults that an attempt waits for: responses that don't arrive, or not in time. */
export const stalls = {
  hang: () => {},
  headersThenHang: forwarded((response) => response.flushHeaders()),
  allButTheLastByte: forwarded((response, body) => response.write(body.subarray(0, -1))),
  dripping,
} satisfies Record<string, Fault>;

/** Faults that the SDK notices at once. */
export const faults = {
  throttled: throttling('com.amazon.coral.availability#ThrottlingException'),
  throughputExceeded: throttling(`${dynamodbPrefix}ProvisionedThroughputExceededException`),
  status500: awsError(500, `${dynamodbPrefix}InternalServerError`),
  status502: respond(502, '<html>Bad Gateway</html>', html),
  status503: awsError(503, 'com.amazon.coral.availability#ServiceUnavailableException'),
  resetBeforeForwarding: ({ incoming }) => void incoming.socket.resetAndDestroy(),
  resetAfterForwarding: async ({ incoming, forward }) => {
    await forward();
    incoming.socket.resetAndDestroy();
  },
  notHttp: ({ incoming }) => void incoming.socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  halfABody: forwarded((response, body) =>
    response.write(body.subarray(0, body.length / 2), () => response.destroy()),
  ),
  html: respond(200, '<html>Welcome</html>', html),
  emptyResponse: respondWith(''),
  moved: respond(301, ''),
  foreignError: respond(400, '{"message":"Forbidden"}'),
  accessDenied: awsError(400, 'com.amazon.coral.service#AccessDeniedException'),
  resourceNotFound: awsError(400, `${dynamodbPrefix}ResourceNotFoundException`),
  expiredToken: awsError(400, 'com.amazon.coral.service#ExpiredTokenException'),
} satisfies Record<string, Fault>;

/** Returns a fault that happens after a pause. By default, it is DynamoDB's own response. */
export const delayed =
  (ms: number, fault: Fault = passOn): Fault =>
  async (exchange) => {
    await pause(ms);
    await fault(exchange);
  };

/** A call of DynamoDB, as far as IAM distinguishes calls. */
export interface DynamodbAccess {
  readonly action: string;
  /** The name of the table up to its first hyphen, as in `Pets`. */
  readonly table: string;
  readonly index: string | undefined;
}

/** The call of DynamoDB that a request is; `undefined` for another request. */
const accessOf = ({ headers }: IncomingMessage, body: Buffer): DynamodbAccess | undefined => {
  const target = headers['x-amz-target'];
  if (target === undefined) return undefined;
  const { TableName, IndexName: index } = JSON.parse(body.toString());
  const [table = ''] = `${TableName}`.split('-');
  return { action: `${target}`.replace('DynamoDB_20120810.', ''), table, index };
};

/** A proxy in front of DynamoDB, or of the service, that records requests and injects faults. */
export class FaultProxy {
  /** Every request since the start, or the last `reset`, in order. */
  readonly requests: string[] = [];
  /** The requests that got a whole response: on a busy machine a client gives some up, and tries again. */
  readonly completed: string[] = [];
  /** The requests that are calls of DynamoDB, in order. */
  readonly accesses: DynamodbAccess[] = [];
  readonly #target: URL;
  #injections: { readonly call: string; readonly fault: Fault; remaining: number }[] = [];
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    this.#handle(incoming, response).catch(() => incoming.socket.destroy());
  });

  constructor(target: string) {
    this.#target = new URL(target);
  }

  /**
   * Listens on a free port, or on that of `endpoint` again after `refuseConnections`. Returns the endpoint.
   */
  async listen(endpoint = 'http://127.0.0.1:0'): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server, Number(new URL(endpoint).port))}`;
  }

  /** Injects a fault into the next `times` requests of a call such as `Query Pets`, or of all (`*`). */
  inject(call: string, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#injections.push({ call, fault, remaining: times });
  }

  /** Ends all faults and forgets all requests. */
  reset(): void {
    this.#injections = [];
    this.requests.length = 0;
    this.completed.length = 0;
    this.accesses.length = 0;
  }

  /** Closes the port: connections are refused until `listen` is called with the same endpoint. */
  async refuseConnections(): Promise<void> {
    this.#server.close().closeAllConnections();
    await once(this.#server, 'close');
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const access = accessOf(incoming, body);
    if (access) this.accesses.push(access);
    const call = access
      ? `${access.action} ${access.table}`
      : `${incoming.method} ${incoming.url?.split('?')[0]}`;
    this.requests.push(call);
    response.on('finish', () => this.completed.push(call));
    const injection = this.#injections.find(
      (candidate) => [call, '*'].includes(candidate.call) && candidate.remaining > 0,
    );
    if (injection) injection.remaining -= 1;
    const fault = injection?.fault ?? passOn;
    const forward = (other?: string) => this.#forward(incoming, other ?? body);
    await fault({ incoming, request: body, response, call, forward });
  }

  async #forward({ method, url = '/', headers }: IncomingMessage, body: Buffer | string) {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const length = { 'content-length': Buffer.byteLength(body) };
      request(new URL(url, this.#target), { method, headers: { ...headers, ...length } }, resolve)
        .on('error', reject)
        .end(body);
    });
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      body: await buffer(incoming),
    };
  }
}
