import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import { projectDirectory } from '../project-directory.ts';

/** A rebuild starts when no file has changed for this time: editors and git write in bursts. */
const quietMs = 80;

/** Modules that this process has loaded: it continues to run their old version. */
const loaded = /\binfra[/\\](local|template)(?=[/\\])/;

export interface SourceWatchOptions {
  /** Watched recursively. */
  readonly directories?: readonly string[];
  /** Called after each burst of changes. A change meanwhile aborts the signal; the next call waits until this one ends. */
  readonly rebuild: (signal: AbortSignal) => Promise<unknown>;
  /** Gets a line when a change needs a restart, or may be missed. */
  readonly report: (line: string) => void;
}

/** Calls `rebuild` when sources change. Resolves, once it watches them, to a function that stops it. */
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
