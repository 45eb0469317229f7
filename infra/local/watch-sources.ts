import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import { projectDirectory } from '../project-directory.ts';

/** How long no file must have changed before a rebuild starts: editors and git write in bursts. */
const quietMs = 80;

/** Modules that this process runs, and would go on to run as they were. */
const loaded = /\binfra[/\\](local|template)(?=[/\\])/;

export interface SourceWatchOptions {
  /** Watched with all that they hold. */
  readonly directories?: readonly string[];
  /** Called after each burst of changes. A change meanwhile aborts the signal; the next call waits until this one ends. */
  readonly rebuild: (signal: AbortSignal) => Promise<unknown>;
  /** Gets a line for each change that can't be followed. */
  readonly report: (line: string) => void;
}

/** Watches sources from its return on, and calls for a rebuild when they have changed. Returns a function that stops it. */
export const watchSources = async ({
  directories = ['functions', 'infra', 'lib'].map((name) => join(projectDirectory, name)),
  rebuild,
  report,
}: SourceWatchOptions): Promise<() => Promise<void>> => {
  let abort = new AbortController();
  let quiet: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const start = () => {
    abort = new AbortController();
    const { signal } = abort;
    running = running.then(() => signal.aborted || rebuild(signal));
  };
  // Node's own recursive watch loses a file on Linux once it is replaced by a rename.
  const watcher = watch([...directories], { ignoreInitial: true });
  watcher.on('all', (_event, path) => {
    const [folder] = loaded.exec(relative(projectDirectory, path)) ?? [];
    if (folder !== undefined) return report(`${folder} has changed: restart npm start to use it`);
    abort.abort();
    clearTimeout(quiet);
    quiet = setTimeout(start, quietMs);
  });
  watcher.on('error', (error) => report(`Changed sources may go unnoticed: ${error}`));
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return async () => {
    await watcher.close();
    clearTimeout(quiet);
    abort.abort();
    await running;
  };
};
