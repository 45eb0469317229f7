import { coldRequests } from './cold.ts';
import { functionNames } from './contenders.ts';
import { coldRatio } from './report.ts';
import type { GatedResults } from './results.ts';

/** The share by which a figure may grow before the gate fails. */
const tolerance = 0.02;

interface Comparison {
  /** A line for each figure that is more than 2 % worse, and each module that is loaded in addition. */
  readonly worse: readonly string[];
  readonly better: readonly string[];
}

/**
 * Compares a measurement with the committed one: cold instructions relative to L, which contains no
 * code of the project, in the same run; bytes of each bundle; and Node's own modules that a cold start loads.
 */
export const regressionsOf = (committed: GatedResults, measured: GatedResults): Comparison => {
  const worse: string[] = [];
  const better: string[] = [];
  const compare = (figure: string, functionName: string, before = Number.NaN, now = before) => {
    const [shownBefore, shownNow] = [before, now].map((value) => value.toFixed(value < 10 ? 3 : 0));
    const line = `${figure}: ${shownBefore} before, ${shownNow} now`;
    const [bytesBefore = {}, bytesNow = {}] = [committed, measured].map(
      ({ bytesBySource }) => bytesBySource[functionName],
    );
    if (now > before * (1 + tolerance)) worse.push(line + largestGrowth(bytesBefore, bytesNow));
    else if (now < before * (1 - tolerance)) better.push(line);
  };

  for (const request of coldRequests) {
    for (const state of ['hit', 'rejected'] as const) {
      const [before, now] = [committed, measured].map((results) =>
        coldRatio(results, request, state, 'bare'),
      );
      const figure = `cold ${request}, code cache ${state} / L`;
      compare(figure, functionNames[request], before, now);
    }
    const known = new Set(committed.loadedModules[request]);
    for (const name of measured.loadedModules[request] ?? []) {
      if (!known.has(name)) worse.push(`A cold ${request} loads one more module: ${name}`);
    }
  }
  for (const { functionName, bytes } of measured.bundles) {
    const before = committed.bundles.find((row) => row.functionName === functionName);
    compare(`bundle of ${functionName}, bytes`, functionName, before?.bytes, bytes);
  }
  return { worse, better };
};

/** The source files that added most to a bundle. */
const largestGrowth = (
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): string => {
  const growth = Object.entries(now)
    .map(([file, bytes]) => [file, bytes - (before[file] ?? 0)] as const)
    .filter(([, bytes]) => bytes > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([file, bytes]) => `${file} (+${bytes} bytes)`);
  return growth.length === 0
    ? '. No file of the bundle grew.'
    : `. Grown: ${growth.slice(0, 3).join(', ')}.`;
};
