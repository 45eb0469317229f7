import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Generates new values of `x-amzn-RequestId`, `x-amz-apigw-id` and `X-Amzn-Trace-Id`. */
export const newRequestIds = () => ({
  requestId: `${randomUUID()}`,
  extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
  traceId: `Root=1-${Math.floor(Date.now() / 1_000).toString(16)}-${randomBytes(12).toString('hex')}`,
});

/** A request as the gateway received it. */
export interface GatewayRequest extends ReturnType<typeof newRequestIds> {
  readonly method: string;
  /** The path with the stage, percent-encoded as the client sent it. */
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderPairs;
  readonly port: number;
}

/** The headers of a request. A name can come more than once. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Returns all values of a header, in the order in which they were sent. */
export const headerValuesOf = ({ headers }: { readonly headers: HeaderPairs }, name: string) =>
  headers.filter(([given]) => given.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

/** Returns the header pairs of a request. Names keep the client's case, and no pair is merged or left out. */
export const headersOf = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): HeaderPairs =>
  rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
