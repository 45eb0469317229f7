import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { json } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import type { ApiKeyRecord } from '../../lib/keys/api-key-record.ts';
import type { Pet } from '../../lib/pets/pet.ts';
import { type Certificate, makeCertificate } from './certificate.ts';

/** A request as it came in. */
export interface StandInRequest {
  /** Operation and table, such as `Query Pets`. */
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
}

const Input = z.object({
  TableName: z.string(),
  Key: z.optional(
    z.union([z.object({ keyId: z.object({ S: z.string() }) }), z.object({ id: z.unknown() })]),
  ),
  Limit: z._default(z.number(), 100),
});

/** Pets of a usual size, as many as the longest page and one more. */
export const somePets: readonly Pet[] = Array.from({ length: 101 }, (_, index) => ({
  id: 2 ** 52 + index,
  name: `Rex the ${index}th of Animal Store`,
  categoryId: 1,
  status: 'available',
}));

/** Stands in for DynamoDB: answers over TLS and at once, with one API key and always the same pets. */
export class DynamodbStandIn implements AsyncDisposable {
  readonly apiKey = generateApiKey('pets_test');
  readonly requests: StandInRequest[] = [];
  readonly #certificate: Certificate;
  readonly #server: Server;
  readonly #keyRecord: ApiKeyRecord;

  private constructor(certificate: Certificate) {
    this.#certificate = certificate;
    const identity = identifyApiKey(this.apiKey, 'pets_test');
    if (!identity) throw new Error('The API key is malformed');
    const lastFour = this.apiKey.slice(-4);
    this.#keyRecord = {
      ...identity,
      // Not a Buffer, which JSON would write in a form of its own.
      hash: Uint8Array.from(identity.hash),
      owner: 'bench',
      lastFour,
      createdAt: '2026-01-01T00:00:00Z',
    };
    this.#server = createServer(certificate, (incoming, response) => {
      this.#answer(incoming, response).catch(() => response.destroy());
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

  /** What Lambda and the stack would put into a function's environment, with this for DynamoDB. */
  get environment(): Record<string, string> {
    return {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'ASIASTANDIN',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: 'function',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      TZ: ':UTC',
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${this.port}`,
      NODE_EXTRA_CA_CERTS: this.#certificate.file,
      PETS_TABLE: 'Pets',
      KEYS_TABLE: 'Keys',
      API_KEY_PREFIX: 'pets_test',
      POWERTOOLS_SERVICE_NAME: 'animal-store',
    };
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#certificate[Symbol.asyncDispose]();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse) {
    const input = Input.parse(await json(incoming));
    const operation = `${incoming.headers['x-amz-target']}`.replace('DynamoDB_20120810.', '');
    this.requests.push({ call: `${operation} ${input.TableName}`, headers: incoming.headers });
    const body = JSON.stringify(this.#output(operation, input), (_name, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    );
    response.writeHead(200, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amzn-RequestId': 'REQUEST',
    });
    response.end(body);
  }

  #output(operation: string, { Key, Limit }: z.output<typeof Input>): object {
    if (operation === 'Query') {
      return { Items: somePets.slice(0, Limit).map((pet) => marshall(pet)), Count: Limit };
    }
    if (operation === 'PutItem' || Key === undefined) return {};
    if (!('keyId' in Key)) return { Item: { ...marshall(somePets[0] ?? {}), id: Key.id } };
    return Key.keyId.S === this.#keyRecord.keyId ? { Item: marshall(this.#keyRecord) } : {};
  }
}
