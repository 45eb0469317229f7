import { describe, expect, it } from 'vitest';
import { regressionsOf } from '../bench/gate.ts';
import type { GatedResults } from '../bench/results.ts';
import { ratioOf } from '../bench/samples.ts';

const results = ({
  service = 110,
  bytes = 100_000,
  source = 600,
  loaded = ['NativeModule https'],
} = {}): GatedResults => {
  const counted = (name: 'service' | 'sdkCall', ofGetPet: number) =>
    (['getPet', 'createPet', 'listPets'] as const).map((request) => {
      const count = request === 'getPet' ? ofGetPet : 100;
      return { name, request, millions: { median: count, min: count, max: count } };
    });
  return {
    coldInstructions: [...counted('service', service), ...counted('sdkCall', 100)],
    bundles: [{ functionName: 'get-pet', bytes, gzipBytes: 300 }],
    bytesBySource: { 'get-pet': { 'lib/pets/pet-store.ts': source, 'lib/aws/dynamodb.ts': 400 } },
    loadedModules: { getPet: loaded },
  };
};

describe('the benchmark’s gate', () => {
  it.each([
    [
      { service: 113.3, source: 650 },
      'cold getPet / document-client call: 1.100 before, 1.133 now. Grown: lib/pets/pet-store.ts (+50 bytes).',
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
    ['a figure grows by 1 %', { service: 111, bytes: 101_000 }, []],
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
