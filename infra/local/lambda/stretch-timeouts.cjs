/*
 * Loaded before a function that runs in a debugger, or whose instructions are counted: a debugger stops it,
 * and valgrind runs it some 50 times slower. Its time limits would end calls, and add retries, that no
 * function on Lambda has. Its pauses between attempts stay short.
 */
const factor = 1_000;
// The longest pause of `backoffMs` in lib/aws/call-dynamodb.ts.
const longestPauseMs = 100;
const { setTimeout } = globalThis;
globalThis.setTimeout = (callback, ms = 0, ...parameters) => {
  const stretched = ms > longestPauseMs ? Math.min(ms * factor, 2 ** 31 - 1) : ms;
  return setTimeout(callback, stretched, ...parameters);
};
const { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms * factor);
// Deadlines are instants of this clock: lib/telemetry/elapsed-ms.ts.
const { bigint } = process.hrtime;
process.hrtime.bigint = () => bigint() / BigInt(factor);
