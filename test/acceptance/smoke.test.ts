import { describe, expect, it } from 'vitest';
import { apiKey, expectError, send } from './client.ts';

/** What a release checks in prod: it only reads. */
describe('a stage that was just deployed', () => {
  it('lists pets for the holder of an API key', async () => {
    const { status, text } = await send({ path: '/pets?limit=1' });
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toBeInstanceOf(Array);
  });

  it('returns 401 for a mistyped API key', async () => {
    const headers = [['Authorization', `Bearer ${apiKey}0`]] as const;
    expectError(await send({ path: '/pets', headers }), 401, 'unauthorized');
  });

  it('returns 404 for an unknown pet and an unknown path', async () => {
    expectError(await send({ path: '/pets/1' }), 404, 'not_found');
    expectError(await send({ path: '/' }), 404, 'not_found');
  });
});
