import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { serviceEndpoints } from '../../infra/local/lambda/local-function.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { cannedResponses } from './canned-responses.ts';
import { type Certificate, makeCertificate } from './certificate.ts';
import { functionEnvironment } from './function-environment.ts';
import { listen } from './listen.ts';

/** A received request: operation and table, such as `Query Pets`, and headers. */
export interface StandInRequest {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}

/** Responses a request, by its target (such as `DynamoDB_20120810.Query`) and its body. */
export type RespondTo = (
  target: string,
  body: string,
) => StandInResponse | Promise<StandInResponse>;

interface StandInResponse {
  /** Operation and table of the request, such as `Query Pets`. */
  readonly call: string;
  readonly status?: number;
  readonly body: string;
}

/** A server in DynamoDB's place, over TLS. By default it responds at once with canned responses. */
export class DynamodbStandIn implements AsyncDisposable {
  readonly apiKey = generateApiKey('pets_test');
  readonly requests: StandInRequest[] = [];
  port = 0;
  readonly #certificate: Certificate;
  readonly #respondTo: RespondTo;
  readonly #server: Server;

  private constructor(certificate: Certificate, respondTo?: RespondTo) {
    this.#certificate = certificate;
    this.#respondTo = respondTo ?? cannedResponses(this.apiKey);
    this.#server = createServer(certificate, (incoming, response) => {
      this.#handle(incoming, response).catch(() => response.destroy());
    });
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Listens on loopback, with a certificate for `localhost` and another name. */
  static async start(hostName = 'localhost', respondTo?: RespondTo): Promise<DynamodbStandIn> {
    const certificate = await makeCertificate([...new Set(['localhost', hostName])]);
    const standIn = new DynamodbStandIn(certificate, respondTo);
    standIn.port = await listen(standIn.#server);
    return standIn;
  }

  /** The environment of a function that uses this as DynamoDB, and trusts its certificate. */
  get environment(): Record<string, string> {
    return {
      ...serviceEndpoints(),
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
    const result = this.#respondTo(`${headers['x-amz-target']}`, await text(incoming));
    const { call, status = 200, body } = await result;
    this.requests.push({ call, headers });
    response.writeHead(status, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amzn-RequestId': 'REQUEST',
    });
    response.end(body);
  }
}
