import { relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { projectDirectory } from '../project-directory.ts';

/** How long no file must have changed before the work starts: editors and git write in bursts. */
const quietMs = 80;

export interface SourceWatchOptions {
  /** Watched with all that they hold. */
  readonly directories: readonly string[];
  /** The folders among them of the modules that this process runs, and would go on to run as they were. */
  readonly loadedDirectories: readonly string[];
  /** Gets a line for each change that can't be followed. */
  readonly report: (line: string) => void;
}

type Rebuild = (signal: AbortSignal) => Promise<void>;

/** Watches sources and calls for a rebuild when they have changed. */
export class SourceWatch {
  readonly #options: SourceWatchOptions;
  readonly #watcher: FSWatcher;
  readonly #reported = new Set<string>();
  #rebuild: Rebuild | undefined;
  #hasChanged = false;
  #quiet: NodeJS.Timeout | undefined;
  #abort = new AbortController();
  #running = Promise.resolve();

  private constructor(options: SourceWatchOptions) {
    this.#options = options;
    // Node's own recursive watch loses a file on Linux once it is replaced by a rename.
    this.#watcher = watch([...options.directories], { ignoreInitial: true })
      .on('all', (_event, path) => this.#noticed(path))
      .on('error', (error) => this.#failed(error));
  }

  /** Notices every change from its return on, also those that come before `begin`. */
  static async start(options: SourceWatchOptions): Promise<SourceWatch> {
    const sources = new SourceWatch(options);
    await new Promise<void>((resolve) => sources.#watcher.once('ready', resolve));
    return sources;
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
    await this.#watcher.close();
    clearTimeout(this.#quiet);
    this.#abort.abort();
    await this.#running;
  }

  #failed(error: unknown) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    this.#reportOnce(`Changed sources may go unnoticed (${reason}): restart npm start to use them`);
  }

  #noticed(path: string) {
    const loaded = this.#options.loadedDirectories.find((directory) =>
      `${path}${sep}`.startsWith(`${directory}${sep}`),
    );
    if (loaded === undefined) this.#changed();
    else {
      const name = relative(projectDirectory, loaded);
      this.#reportOnce(`${name} has changed: restart npm start to use it`);
    }
  }

  #reportOnce(line: string) {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.report(line);
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
