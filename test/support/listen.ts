import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Listens on this machine only, on a free port unless one is given. Returns the port. */
export const listen = async (server: Server, port = 0): Promise<number> => {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was bound');
  return address.port;
};

/** Returns a port of this machine on which nothing listens at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = await listen(server);
  server.close();
  return port;
};
