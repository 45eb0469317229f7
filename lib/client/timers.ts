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
 * Returns the result of `work`. Throws a TimeoutError after `timeoutMs`, and the reason of `signal` as soon
 * as it is aborted, even if `work` ignores the signal that it gets. That signal is aborted at the end, which
 * closes an unread response.
 */
export const withTimeout = async <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result> => {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const timeout = async () => {
    await pause(timeoutMs, ended.signal);
    throw new TimeoutError(`No complete response came within ${timeoutMs} ms`);
  };
  const aborted = new Promise<never>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: ended.signal });
  });
  try {
    return await Promise.race([work(ended.signal), timeout(), aborted]);
  } finally {
    ended.abort();
  }
};
