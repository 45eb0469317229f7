import { type FSWatcher, watch } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** How long no file must have changed before the work starts: editors and git write in bursts. */
const quietMs = 80;

export interface SourceWatchOptions {
  /** Watched with all that they hold. */
  readonly directories: readonly string[];
  /** The folder among them of the modules that this process runs, and would go on to run as they were. */
  readonly loadedDirectory: string;
  /** Gets a line for each change that can't be followed. */
  readonly report: (line: string) => void;
}

type Rebuild = (signal: AbortSignal) => Promise<void>;

/** Notices changed sources from its construction on, so that none is missed while the service still starts. */
export class SourceWatch {
  readonly #loadedDirectory: string;
  readonly #report: (line: string) => void;
  readonly #reported = new Set<string>();
  readonly #watchers: readonly FSWatcher[];
  #rebuild: Rebuild | undefined;
  #hasChanged = false;
  #quiet: NodeJS.Timeout | undefined;
  #abort = new AbortController();
  #running = Promise.resolve();

  constructor({ directories, loadedDirectory, report }: SourceWatchOptions) {
    this.#loadedDirectory = loadedDirectory;
    this.#report = report;
    this.#watchers = directories.flatMap((directory) => this.#watch(directory));
  }

  /**
   * Calls `rebuild` after each burst of changes, and for what has changed so far. A change during a rebuild aborts
   * its signal, and the next one starts when it has ended.
   */
  begin(rebuild: Rebuild): void {
    this.#rebuild = rebuild;
    if (this.#hasChanged) this.#changed();
  }

  async stop(): Promise<void> {
    for (const watcher of this.#watchers) watcher.close();
    clearTimeout(this.#quiet);
    this.#abort.abort();
    await this.#running;
  }

  #watch(directory: string): FSWatcher[] {
    try {
      const watcher = watch(directory, { recursive: true }, (_event, name) =>
        this.#noticed(join(directory, name ?? '')),
      );
      return [watcher.on('error', (error) => this.#failed(error))];
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  #failed(error: unknown) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    this.#reportOnce(`Changed sources may go unnoticed (${reason}): restart npm start to use them`);
  }

  #noticed(path: string) {
    const loaded = this.#loadedDirectory;
    if (path !== loaded && !path.startsWith(`${loaded}${sep}`)) {
      this.#changed();
      return;
    }
    const name = relative(dirname(dirname(loaded)), loaded);
    this.#reportOnce(`${name} has changed: restart npm start to use it`);
  }

  #reportOnce(line: string) {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#report(line);
  }

  #changed() {
    this.#hasChanged = true;
    const rebuild = this.#rebuild;
    if (!rebuild) return;
    this.#abort.abort();
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#start(rebuild), quietMs);
  }

  #start(rebuild: Rebuild) {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#running = this.#running.then(async () => {
      if (!signal.aborted) await rebuild(signal);
    });
  }
}
