import { describe, expect, it } from 'vitest';
import { regressionsOf } from '../bench/gate.ts';
import type { GatedResults } from '../bench/results.ts';
import { ratioOf } from '../bench/samples.ts';

const results = ({
  hit = 90,
  rejected = 110,
  bytes = 100_000,
  source = 600,
  loaded = ['NativeModule https'],
} = {}): GatedResults => {
  const counted = (name: 'hit' | 'rejected' | 'bare', ofGetPet: number) =>
    (['getPet', 'createPet', 'listPets'] as const).map((request) => {
      const millions = request === 'getPet' ? ofGetPet : 100;
      return { name, request, millions, firstInvocation: 10 };
    });
  return {
    coldInstructions: [
      ...counted('hit', hit),
      ...counted('rejected', rejected),
      ...counted('bare', 100),
    ],
    bundles: [{ functionName: 'get-pet', bytes, gzipBytes: 300, cacheBytes: 2, cacheGzipBytes: 1 }],
    bytesBySource: { 'get-pet': { 'lib/pets/pet-store.ts': source, 'lib/aws/dynamodb.ts': 400 } },
    loadedModules: { getPet: loaded },
  };
};

describe('the benchmark’s gate', () => {
  it.each([
    [
      { rejected: 113.3, source: 650 },
      'cold getPet, code cache rejected / L: 1.100 before, 1.133 now. Grown: lib/pets/pet-store.ts (+50 bytes).',
    ],
    [
      { hit: 92.7 },
      'cold getPet, code cache hit / L: 0.900 before, 0.927 now. No file of the bundle grew.',
    ],
    [
      { bytes: 105_000 },
      'bundle of get-pet, bytes: 100000 before, 105000 now. No file of the bundle grew.',
    ],
    [
      { loaded: ['NativeModule https', 'NativeModule zlib'] },
      'A cold getPet loads one more module: NativeModule zlib',
    ],
  ])('fails when %o is worse', (measured, worse) => {
    expect(regressionsOf(results(), results(measured))).toEqual({ worse: [worse], better: [] });
  });

  it.each([
    ['nothing changed', {}, []],
    ['a figure grows by 1 %', { hit: 90.9, rejected: 111, bytes: 101_000 }, []],
    [
      'a figure improves',
      { bytes: 90_000 },
      ['bundle of get-pet, bytes: 100000 before, 90000 now'],
    ],
  ])('passes when %s', (_what, measured, better) => {
    expect(regressionsOf(results(), results(measured))).toEqual({ worse: [], better });
  });
});

describe('ratioOf', () => {
  it('takes the ratio of each round, so that noise in both cancels out', () => {
    const slow = [1, 5, 1, 9, 2];
    const slower = slow.map((ms) => ms * 2);
    expect(ratioOf(slower, slow)).toEqual({ median: 2, min: 2, max: 2 });
  });

  it('returns an interval around the median that noise widens', () => {
    const ones = Array.from({ length: 31 }, () => 1);
    const noisy = ones.map((_, round) => 1 + ((round * 7) % 31) / 31);
    const { median, min, max } = ratioOf(noisy, ones);
    const ordered = [1, min, median, max, 2];
    expect(ordered.toSorted()).toEqual(ordered);
    expect(new Set(ordered).size).toBe(ordered.length);
  });
});
