import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from '../bench/certificate.ts';

/** What happens to a connection instead of a TLS handshake. */
export type ConnectionFault = (socket: Socket) => void;

/** RFC 8446 §6: a fatal alert (2), handshake_failure (40). */
const handshakeFailure = Buffer.from('15030300020228', 'hex');

/** Every fault of a TLS handshake. */
export const connectionFaults = {
  handshakeHang: () => {},
  tlsAlert: (socket) => void socket.end(handshakeFailure),
  notTls: (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
} satisfies Record<string, ConnectionFault>;

/** Terminates TLS in front of a plain HTTP server, and breaks connections as it is told to. */
export class TlsFront {
  readonly #sockets = new Set<Socket>();
  readonly #certificate: Certificate;
  #fault: ConnectionFault | undefined;
  #remaining = 0;

  constructor(certificate: Certificate) {
    this.#certificate = certificate;
  }

  /** Starts to listen on a free port; gives the `https` address. */
  async listen(target: string): Promise<string> {
    const tls = createTlsServer(this.#certificate, (secure) => {
      const plain = connect(Number(new URL(target).port), '127.0.0.1');
      secure.on('error', () => plain.destroy()).pipe(plain);
      plain.on('error', () => secure.destroy()).pipe(secure);
    });
    const server = createServer((socket) => {
      this.#sockets.add(socket.on('error', () => {}));
      if (this.#remaining > 0) {
        this.#remaining -= 1;
        this.#fault?.(socket);
      } else tls.emit('connection', socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('It has no port');
    return `https://localhost:${address.port}`;
  }

  /** Closes all connections, and lets the next `times` meet a fault. */
  inject(fault: ConnectionFault, times = Number.POSITIVE_INFINITY): void {
    this.#fault = fault;
    this.#remaining = times;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** How many connections still meet the fault. */
  get remaining(): number {
    return this.#remaining;
  }

  /** Ends the fault. */
  reset(): void {
    this.#remaining = 0;
  }
}
