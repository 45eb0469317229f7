import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { captureLog } from '../support/captured-log.ts';
import { makeCertificate } from '../support/certificate.ts';
import { bearer, creation } from '../support/events.ts';
import { fromBundles, startHandlers } from '../support/handlers.ts';
import { listen } from '../support/listen.ts';

type ConnectionFault = (socket: Socket) => void;

/** RFC 8446 §6: a fatal alert (2), handshake_failure (40). */
const handshakeFailure = Buffer.from('15030300020228', 'hex');

const certificate = await makeCertificate(['localhost']);
setDefaultCACertificates([...getCACertificates(), await readFile(certificate.file, 'utf8')]);
afterAll(() => certificate[Symbol.asyncDispose]());

const sockets = new Set<Socket>();
let fault: ConnectionFault = () => {};
/** How many connections still meet the fault. */
let remaining = 0;

/** Closes all connections, and lets the next `times` meet a fault. */
const inject = (next: ConnectionFault, times = Number.POSITIVE_INFINITY) => {
  fault = next;
  remaining = times;
  for (const socket of sockets) socket.destroy();
  sockets.clear();
};

/** Terminates TLS on a free port in front of a plain HTTP server. Returns the `https` address. */
const startTlsFront = async (target: string) => {
  const tls = createTlsServer(certificate, (secure) => {
    const plain = connect(Number(new URL(target).port), '127.0.0.1');
    secure.on('error', () => plain.destroy()).pipe(plain);
    plain.on('error', () => secure.destroy()).pipe(secure);
  });
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (remaining === 0) return tls.emit('connection', socket);
    remaining -= 1;
    return fault(socket);
  });
  return `https://localhost:${await listen(server)}`;
};

let front: Promise<string> | undefined;
const service = await startHandlers(async (bundle) => {
  front ??= startTlsFront(`${process.env['AWS_ENDPOINT_URL_DYNAMODB']}`);
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = await front;
  return fromBundles(bundle);
});

/** Requests that run side by side, each on a connection of its own. */
const requests = [
  { success: 200, run: () => service.send() },
  { success: 201, run: () => service.send(creation()) },
  { success: 404, run: () => service.send({ path: { petId: '1' } }) },
  {
    success: 200,
    run: async () => service.send({ headers: bearer(await service.issueApiKey()) }),
  },
];

const statuses = async () =>
  (await Promise.all(requests.map(({ run }) => run()))).map(({ status }) => status);

beforeEach(() => {
  remaining = 0;
});

describe('a connection without a TLS handshake', () => {
  it.each<[kind: string, failure: ConnectionFault]>([
    ['hangs', () => {}],
    ['gets a TLS alert', (socket) => void socket.end(handshakeFailure)],
    ['gets no TLS', (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
  ])('that %s is made again, and leads to 503 when the fault lasts', async (_kind, failure) => {
    captureLog();
    for (const { success, run } of requests) {
      inject(failure, 1);
      expect((await run()).status).toBe(success);
      expect(remaining).toBe(0);
    }
    inject(failure);
    expect(await statuses()).toEqual(requests.map(() => 503));
    remaining = 0;
    expect(await statuses()).toEqual(requests.map(({ success }) => success));
  });
});

it('a connection is kept for the next call', async () => {
  inject(() => {}, 0);
  for (let sent = 0; sent < 3; sent += 1) expect((await service.send()).status).toBe(200);
  expect(sockets.size).toBe(1);
});
