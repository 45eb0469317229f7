import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { functionEnvironment } from '../../infra/build/code-caches.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { cannedAnswers } from './canned-answers.ts';

/** A received request: operation and table, such as `Query Pets`, and headers. */
export interface StandInRequest {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server's certificate; `file` is its PEM file, for clients that must trust it. */
export interface Certificate extends AsyncDisposable {
  readonly pfx: Buffer;
  readonly passphrase: string;
  readonly file: string;
}

/**
 * A server that replaces DynamoDB: it responds at once with canned answers, over TLS if it has a
 * certificate.
 */
export class DynamodbStandIn implements AsyncDisposable {
  readonly apiKey = generateApiKey('pets_test');
  readonly requests: StandInRequest[] = [];
  readonly #certificate: Certificate | undefined;
  readonly #answer = cannedAnswers(this.apiKey);
  readonly #server: Server;

  private constructor(certificate: Certificate | undefined) {
    this.#certificate = certificate;
    const handle = (incoming: IncomingMessage, response: ServerResponse) => {
      this.#handle(incoming, response).catch(() => response.destroy());
    };
    this.#server = certificate ? createHttpsServer(certificate, handle) : createHttpServer(handle);
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Listens on loopback, and disposes of the certificate when it ends. */
  static async start(certificate?: Certificate): Promise<DynamodbStandIn> {
    const standIn = new DynamodbStandIn(certificate);
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
    if (!this.#certificate) return functionEnvironment(`http://localhost:${this.port}`);
    return {
      ...functionEnvironment(`https://localhost:${this.port}`),
      NODE_EXTRA_CA_CERTS: this.#certificate.file,
    };
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#certificate?.[Symbol.asyncDispose]();
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
