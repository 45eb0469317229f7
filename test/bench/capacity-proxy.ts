import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import * as z from 'zod/mini';

const Output = z.object({
  ConsumedCapacity: z.optional(z.object({ CapacityUnits: z.number() })),
});

/** A request to DynamoDB as it is paid for. */
export interface PaidRequest {
  /** Operation and table, such as `Query PetsTable`. */
  readonly call: string;
  /** RCU of a read, WCU of a write, its indexes included. */
  readonly units: number;
  /** Whether it began while no other was on its way. */
  readonly isRoundTrip: boolean;
}

/** A proxy in front of DynamoDB that makes it say what each request costs. */
export class CapacityProxy implements AsyncDisposable {
  /** What has passed, in order. */
  readonly requests: PaidRequest[] = [];
  readonly #target: URL;
  #underWay = 0;
  readonly #server = createServer((incoming, response) => {
    this.#pass(incoming, response).catch(() => response.destroy());
  });

  constructor(target: string) {
    this.#target = new URL(target);
  }

  /** Listens on a free port of loopback; gives the endpoint. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse) {
    const isRoundTrip = this.#underWay === 0;
    this.#underWay += 1;
    try {
      const input = JSON.parse(await text(incoming));
      const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
      const { method, headers } = incoming;
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const length = { 'content-length': Buffer.byteLength(body) };
        request(this.#target, { method, headers: { ...headers, ...length } }, resolve)
          .on('error', reject)
          .end(body);
      });
      const output = await buffer(answer);
      const { ConsumedCapacity } = Output.parse(JSON.parse(output.toString()));
      const operation = `${headers['x-amz-target']}`.replace('DynamoDB_20120810.', '');
      const units = ConsumedCapacity?.CapacityUnits ?? 0;
      this.requests.push({ call: `${operation} ${input.TableName}`, units, isRoundTrip });
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(output);
    } finally {
      this.#underWay -= 1;
    }
  }
}
