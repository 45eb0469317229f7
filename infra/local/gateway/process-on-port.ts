import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * Returns the process of this machine that listens on a TCP port, such as `process 42 (node
 * server.js)`. Returns `undefined` if that can't be known, which is so on a system without `/proc` and
 * for another user's process.
 * https://docs.kernel.org/networking/proc_net_tcp.html
 */
export const processOnPort = async (port: number): Promise<string | undefined> => {
  const sockets = await listeningSockets(port);
  for (const id of await readdir('/proc').catch(() => [])) {
    const files = await readdir(`/proc/${id}/fd`).catch(() => []);
    for (const file of files) {
      const target = await readlink(`/proc/${id}/fd/${file}`).catch(() => '');
      if (sockets.has(target)) return `process ${id} (${await commandOf(id)})`;
    }
  }
  return undefined;
};

/** Returns the sockets that listen on a port, named as in `/proc/<id>/fd`. */
const listeningSockets = async (port: number): Promise<ReadonlySet<string>> => {
  const sockets = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = (await readFile(table, 'utf8').catch(() => '')).split('\n');
    for (const line of lines) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/ +/);
      const isOnPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port;
      if (isOnPort && state === listening) sockets.add(`socket:[${inode}]`);
    }
  }
  return sockets;
};

/** The state TCP_LISTEN in the kernel's tables. */
const listening = '0A';

/** Returns the program and its first argument. Later arguments may be secret. */
const commandOf = async (id: string): Promise<string> => {
  const words = (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return words.slice(0, 2).join(' ').trim();
};
