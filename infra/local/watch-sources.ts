import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** How long no file must have changed before the work starts: editors and git write in bursts. */
const quietMs = 80;

type Rebuild = (signal: AbortSignal) => Promise<void>;

/** Notices changed sources from its construction on, so that none is missed while the service still starts. */
export class SourceWatch {
  readonly #watchers: readonly FSWatcher[];
  #rebuild: Rebuild | undefined;
  #hasChanged = false;
  #abort = new AbortController();
  #running = Promise.resolve();

  constructor(directories: readonly string[]) {
    this.#watchers = directories.map((directory) =>
      watch(directory, { recursive: true }, () => this.#changed()),
    );
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
    this.#abort.abort();
    await this.#running;
  }

  #changed() {
    this.#hasChanged = true;
    const rebuild = this.#rebuild;
    if (!rebuild) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#running = this.#running.then(async () => {
      await pause(quietMs);
      if (!signal.aborted) await rebuild(signal);
    });
  }
}
