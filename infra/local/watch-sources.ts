import { watch } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** How long no file must have changed before the work starts: editors and git write in bursts. */
const quietMs = 80;

/**
 * Calls `rebuild` after each burst of changes under the directories. A change during a rebuild aborts its signal, and
 * the next one starts when it has ended. Returns what ends the watch.
 */
export const watchSources = (
  directories: readonly string[],
  rebuild: (signal: AbortSignal) => Promise<void>,
): (() => Promise<void>) => {
  let abort = new AbortController();
  let running = Promise.resolve();
  const changed = () => {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    running = running.then(async () => {
      await pause(quietMs);
      if (!signal.aborted) await rebuild(signal);
    });
  };
  const watchers = directories.map((directory) => watch(directory, { recursive: true }, changed));
  return async () => {
    for (const watcher of watchers) watcher.close();
    abort.abort();
    await running;
  };
};
