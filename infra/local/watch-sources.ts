import { join, relative } from 'node:path';
import { watch } from 'chokidar';
import { projectDirectory } from '../build/project-directory.ts';

/** How long no file must have changed before a rebuild starts, in ms. Editors and git write in bursts. */
const quietMs = 80;

/** Matches modules that this process has loaded and keeps as they were, and that no reload replaces. */
const loaded = /\b(infra[/\\](build|local)|lib[/\\](api-gateway|openapi))(?=[/\\].*\.ts$)/;

/** Matches the modules that a reload replaces in the functions and the stack, but not in this process. */
const alsoLoaded = /\b(infra[/\\]settings[/\\](names|stages)|lib[/\\]keys[/\\]api-key)\.ts$/;

export interface SourceWatchOptions {
  /** The directories to watch, recursively. */
  readonly directories?: readonly string[];
  /** Called with a line when a change needs a restart, or when a change may have been missed. */
  readonly report: (line: string) => void;
}

/** Builds changed sources. The signal is aborted when a source changes during the build. */
export type Rebuild = (signal: AbortSignal) => Promise<unknown>;

export interface SourceWatch {
  /**
   * Sets the function that is called after each burst of changes, one call at a time. It is called at once if
   * something has changed already.
   */
  readonly rebuildWith: (rebuild: Rebuild) => void;
  readonly stop: () => Promise<void>;
}

/** Watches sources. Resolves when the watch is ready to notice every change. */
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
    const name = relative(projectDirectory, path);
    const [folder] = loaded.exec(name) ?? [];
    const [module] = alsoLoaded.exec(name) ?? [];
    const changed = folder ?? module;
    if (changed !== undefined) report(`${changed} has changed: restart npm start to use it`);
    if (folder !== undefined) return;
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
