import { TimeoutError } from './errors.ts';

/** The longest delay of a timer, in ms. A timer with a longer delay ends after 1 ms. */
export const maxTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`. Throws the reason of `signal` as soon as it is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });

/**
 * Runs a task with a time limit in ms. Throws a TimeoutError after it, and the reason of `signal` as soon as
 * it is aborted, even if the task ignores the signal that it gets, as a `fetch` of the user may. That signal
 * is aborted at the end too, which closes an unread response.
 */
export const withTimeLimit = async <Result>(
  ms: number,
  signal: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const timeout = async () => {
    await pause(ms, ended.signal);
    throw new TimeoutError(`No complete response came within ${ms} ms`);
  };
  const aborted = new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: ended.signal });
  });
  try {
    return await Promise.race([task(ended.signal), timeout(), aborted]);
  } finally {
    ended.abort();
  }
};
