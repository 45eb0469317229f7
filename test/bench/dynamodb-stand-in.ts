import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { cannedAnswers } from './canned-answers.ts';
import { type Certificate, makeCertificate } from './certificate.ts';

/** The environment that Lambda and the stack give a function, with an endpoint for DynamoDB. */
export const functionEnvironment = (dynamodbEndpoint: string): Record<string, string> => ({
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'ASIASTANDIN',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'token',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  TZ: ':UTC',
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
  PETS_TABLE: 'Pets',
  KEYS_TABLE: 'Keys',
  API_KEY_PREFIX: 'pets_test',
  SERVICE_NAME: 'animal-store',
});

/** A received request: operation and table, such as `Query Pets`, and headers. */
export interface StandInRequest {
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server that replaces DynamoDB: it responds at once, over TLS, with canned answers. */
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

  /** Listens on loopback under a certificate for `localhost` and the other names. */
  static async start(hostNames: readonly string[] = []): Promise<DynamodbStandIn> {
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
