import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/** What a function's runtime reported for an invocation. */
export type Outcome = { readonly response: unknown } | { readonly error: unknown };

interface Pending {
  readonly requestId: string;
  readonly event: unknown;
  readonly timeoutMs: number;
  readonly resolve: (outcome: Outcome) => void;
}

const prefix = '/2018-06-01/runtime';

/**
 * The server that Lambda runs beside a function's runtime, for one execution environment.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class RuntimeApi {
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #queue: Pending[] = [];
  readonly #running = new Map<string, Pending>();
  #waiting: ServerResponse | undefined;
  /** Resolves when INIT has ended: with the error that the runtime reported, if there was one. */
  readonly initialised = Promise.withResolvers<'ready' | { readonly error: unknown }>();

  /** Listens on a free port; returns host and port. */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('No port was bound');
    return `127.0.0.1:${address.port}`;
  }

  invoke(requestId: string, event: unknown, timeoutMs: number): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#queue.push({ requestId, event, timeoutMs, resolve });
    this.#sendNext();
    return promise;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse) {
    const path = request.url?.replace(prefix, '');
    if (path === '/invocation/next') {
      this.#waiting = response;
      this.initialised.resolve('ready');
      this.#sendNext();
      return;
    }
    const reported: unknown = await json(request);
    response.writeHead(202).end();
    if (path === '/init/error') this.initialised.resolve({ error: reported });
    const [, requestId = '', kind] =
      /^\/invocation\/([^/]+)\/(response|error)$/.exec(path ?? '') ?? [];
    const outcome = kind === 'error' ? { error: reported } : { response: reported };
    this.#running.get(requestId)?.resolve(outcome);
  }

  #sendNext() {
    const response = this.#waiting;
    const next = response && this.#queue.shift();
    if (!next) return;
    this.#waiting = undefined;
    this.#running.set(next.requestId, next);
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': next.requestId,
      'Lambda-Runtime-Deadline-Ms': `${Date.now() + next.timeoutMs}`,
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-west-1:000000000000:function:f',
      'Lambda-Runtime-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
    });
    response.end(JSON.stringify(next.event));
  }
}
