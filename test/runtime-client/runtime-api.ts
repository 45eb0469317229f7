import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/** What a function's runtime reported for an invocation. */
export type Outcome = { readonly response: unknown } | { readonly error: unknown };

/**
 * The server that Lambda runs beside a function's runtime, for one execution environment.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class RuntimeApi {
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  /** The runtime's request for the next invocation. */
  #next = Promise.withResolvers<ServerResponse>();
  #outcome = Promise.withResolvers<Outcome>();
  /** Resolves when INIT has ended: with the error that the runtime reported, if there was one. */
  readonly initialised = Promise.withResolvers<'ready' | { readonly error: unknown }>();

  /** Listens on a free port; returns host and port. */
  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('No port was bound');
    return `127.0.0.1:${address.port}`;
  }

  /** Invokes the function, which no other invocation may occupy. */
  async invoke(requestId: string, event: unknown, timeoutMs: number): Promise<Outcome> {
    const response = await this.#next.promise;
    this.#next = Promise.withResolvers();
    this.#outcome = Promise.withResolvers();
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': requestId,
      'Lambda-Runtime-Deadline-Ms': `${Date.now() + timeoutMs}`,
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-west-1:000000000000:function:f',
      'Lambda-Runtime-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
    });
    response.end(JSON.stringify(event));
    return this.#outcome.promise;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse) {
    const path = `${request.url}`;
    if (path.endsWith('/invocation/next')) {
      this.initialised.resolve('ready');
      this.#next.resolve(response);
      return;
    }
    const reported: unknown = await json(request);
    response.writeHead(202).end();
    if (path.endsWith('/init/error')) this.initialised.resolve({ error: reported });
    const isError = path.endsWith('/error');
    this.#outcome.resolve(isError ? { error: reported } : { response: reported });
  }
}
