import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import { projectDirectory } from '../project-directory.ts';

/** A rebuild starts when no file has changed for this time: editors and git write in bursts. */
const quietMs = 80;

/** Modules that this process has loaded: it continues to run their old version. */
const loaded = /\binfra[/\\](build|local)(?=[/\\])/;

export interface SourceWatchOptions {
  /** Watched recursively. */
  readonly directories?: readonly string[];
  /** Gets a line when a change needs a restart, or may be missed. */
  readonly report: (line: string) => void;
}

/** Builds changed sources. A change meanwhile aborts the signal. */
export type Rebuild = (signal: AbortSignal) => Promise<unknown>;

export interface SourceWatch {
  /**
   * Sets what is called after each burst of changes, one call at a time, and at once if
   * something has changed already.
   */
  readonly rebuildWith: (rebuild: Rebuild) => void;
  readonly stop: () => Promise<void>;
}

/** Watches sources. Resolves when every later change is noticed. */
export const watchSources = async ({
  directories = ['functions', 'infra', 'lib'].map((name) => join(projectDirectory, name)),
  report,
}: SourceWatchOptions): Promise<SourceWatch> => {
  let rebuild: Rebuild | undefined;
  let hasChanged = false;
  let abort = new AbortController();
  let quiet: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const start = () => {
    const build = rebuild;
    hasChanged = build === undefined;
    if (!build) return;
    abort = new AbortController();
    const { signal } = abort;
    running = running.then(() => signal.aborted || build(signal));
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
  return {
    rebuildWith: (given) => {
      rebuild = given;
      if (hasChanged) start();
    },
    stop: async () => {
      await watcher.close();
      clearTimeout(quiet);
      abort.abort();
      await running;
    },
  };
};
