import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { functionEnvironment } from '../../infra/build/code-caches.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { cannedAnswers } from './canned-answers.ts';
import { type Certificate, makeCertificate } from './certificate.ts';

/** A received request: operation and table, such as `Query Pets`, and headers. */
export interface StandInRequest {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server that replaces DynamoDB: it responds at once with canned answers, over TLS. */
export class DynamodbStandIn implements AsyncDisposable {
  readonly apiKey = generateApiKey('pets_test');
  readonly requests: StandInRequest[] = [];
  readonly #certificate: Certificate;
  readonly #answer = cannedAnswers(this.apiKey);
  readonly #server: Server;

  private constructor(certificate: Certificate) {
    this.#certificate = certificate;
    this.#server = createServer(certificate, (incoming, response) => {
      this.#handle(incoming, response).catch(() => response.destroy());
    });
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Listens on loopback, with a certificate for `localhost` and the other names. */
  static async start(...hostNames: string[]): Promise<DynamodbStandIn> {
    const standIn = new DynamodbStandIn(await makeCertificate(['localhost', ...hostNames]));
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen');
    return address.port;
  }

  /** The environment of a function that uses this as DynamoDB, and trusts its certificate. */
  get environment(): Record<string, string> {
    return {
      ...functionEnvironment(`https://localhost:${this.port}`),
      NODE_EXTRA_CA_CERTS: this.#certificate.file,
    };
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#certificate[Symbol.asyncDispose]();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse) {
    const { headers } = incoming;
    const { call, body } = this.#answer(`${headers['x-amz-target']}`, await text(incoming));
    this.requests.push({ call, headers });
    response.writeHead(200, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amzn-RequestId': 'REQUEST',
    });
    response.end(body);
  }
}
