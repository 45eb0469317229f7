import { beforeEach, expect, vi } from 'vitest';
import { readMetrics } from './embedded-metric-format.ts';

/**
 * Discards the log lines of tests that don't capture them. Call it once in a test file, outside its tests.
 */
export const discardLog = () => {
  const discard = () => vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  discard();
  // Vitest restores what a test has replaced before it starts the next one.
  beforeEach(discard);
};

/** Captures each line that is printed until the test ends. */
export const captureLog = () => {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(...`${chunk}`.split('\n').filter((line) => line !== ''));
      return true;
    });
  }
  return lines;
};

/** Parses printed lines. Expects each to be the line of a request. */
export const readLines = (lines: readonly string[]) =>
  lines.map((text) => {
    const line = JSON.parse(text);
    readMetrics(line);
    expect(line).toMatchObject({ operation: expect.any(String), status: expect.any(Number) });
    return line;
  });

/** Expects one line, with these fields and without anything that must not leak. */
export const expectOneFailure = (lines: readonly string[], expected: object) => {
  expect(readLines(lines)).toMatchObject([{ level: 'ERROR', ...expected }]);
  expect(lines.join()).not.toMatch(
    /TABLE-AND-KEY-TEXT|(Pets|Keys)-|pets_test_|\\n\s+at |node_modules/,
  );
};
