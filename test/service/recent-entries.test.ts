import { describe, expect, it } from 'vitest';
import { RecentEntries } from '../../lib/keys/recent-entries.ts';

describe('recent entries', () => {
  it('are those that were set last', () => {
    const entries = new RecentEntries<number>(3);
    for (const [at, key] of ['a', 'b', 'c', 'a', 'd'].entries()) entries.set(key, at);
    expect([...entries]).toEqual([
      ['c', 2],
      ['a', 3],
      ['d', 4],
    ]);
  });

  it('lose none when one of them is set again', () => {
    const entries = new RecentEntries<number>(2).set('a', 0).set('b', 1).set('b', 2);
    expect([...entries.keys()]).toEqual(['a', 'b']);
  });
});
