/*
 * Loaded before a function that runs for a debugger or whose instructions are counted: a debugger stops it,
 * and valgrind runs it some 50 times slower. Its time-outs and pauses would end calls, and add retries, that
 * no function on Lambda has.
 */
const factor = 1_000;
const { setTimeout } = globalThis;
globalThis.setTimeout = (callback, ms, ...parameters) =>
  setTimeout(callback, Math.min((ms ?? 0) * factor, 2 ** 31 - 1), ...parameters);
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * factor);
