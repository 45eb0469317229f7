/**
 * Runs a task whose signal aborts after a time limit in ms, or with the signal of the request. Then throws a
 * `TimeoutError`, or the reason of the request's signal.
 */
export const withTimeLimit = async <Result>(
  ms: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  signal.throwIfAborted();
  // `AbortSignal.any` and `AbortSignal.timeout` would keep the signals of tasks that have ended.
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(timeoutError()), ms);
  signal.addEventListener('abort', forward);
  try {
    return await task(controller.signal);
  } catch (error) {
    // What the task throws after an abort only says that something was aborted.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
};

/** Creates an error with the name of the SDK's own time-out errors. */
export const timeoutError = () =>
  Object.assign(new Error('The time is up'), { name: 'TimeoutError' });
