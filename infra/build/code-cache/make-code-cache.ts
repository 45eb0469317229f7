import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface CodeCacheOptions {
  /** The folder that is deployed. */
  readonly directory: string;
  /** The name of the function in it. */
  readonly name: string;
  /** The function's environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * What the function responds to before the cache is made, so that this has all code that these
   * events need.
   */
  readonly events: readonly unknown[];
  /**
   * The program that runs Node.js, with its arguments. Its architecture, version and V8 flags are
   * those of the cache.
   */
  readonly node: readonly string[];
}

/**
 * Flags under which the same bundle and events make the same bytes. Of Lambda's own flags only
 * `--expose-gc` matters to V8: it rejects a cache that was made without.
 */
export const reproducible = ['--expose-gc', '--predictable', '--random-seed=1'];

/** How long making a cache may take, in ms. In an emulator it takes about 5 s. */
const timeoutMs = 120_000;

/** Makes V8's code cache of a function. Throws an Error of one line when the function fails. */
export const makeCodeCache = async (options: CodeCacheOptions): Promise<Buffer> => {
  const { directory, name, environment, events, node } = options;
  await using output = await mkdtempDisposable(join(tmpdir(), 'animal-store-code-cache-'));
  const file = join(output.path, 'cache');
  const [program = '', ...words] = [
    ...node,
    // An emulator is so slow that the function would time out, and compile what it needs for that.
    ...['--require', join(import.meta.dirname, 'stretch-timeouts.cjs')],
    join(import.meta.dirname, 'run-and-cache.mjs'),
    ...[join(directory, `${name}.mjs`), `/var/task/${name}.cjs`, file],
    ...events.map((event) => JSON.stringify(event)),
  ];
  try {
    await promisify(execFile)(program, words, { env: environment, timeout: timeoutMs });
  } catch (error) {
    // The message of execFile repeats the events.
    const printed = error instanceof Error && 'stderr' in error ? `${error.stderr}` : '';
    const reason = /^\w*Error\b.*: .*$/m.exec(printed)?.[0] ?? 'It did not end well.';
    throw new Error(`${name} can't be run: ${reason}`, { cause: error });
  }
  return readFile(file);
};
