import { describe, expect, it } from 'vitest';
import { verdictsOf } from '../bench/report.ts';

/** A getPet that takes a share of what the document-client call takes, and a createPet that takes half. */
const coldStarts = (share: number) => [
  { program: 'sdk-call', build: 'hit', request: 'getPet', millions: 200 } as const,
  { program: 'sdk-call', build: 'hit', request: 'createPet', millions: 200 } as const,
  { program: 'service', build: 'hit', request: 'createPet', millions: 100 } as const,
  { program: 'service', build: 'hit', request: 'getPet', millions: 200 * share } as const,
];

describe('the gate of the benchmark', () => {
  it.each([
    [1.15, true],
    [1.16, false],
  ])('compares the slowest request with its bar: %d', (share, isMet) => {
    const figure = 'This service/Document-client call, this build, code cache used';
    expect(verdictsOf(coldStarts(share))).toEqual([{ figure, bar: 1.15, ratio: share, isMet }]);
  });
});
