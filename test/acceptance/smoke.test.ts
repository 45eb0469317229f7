import { describe, expect, it } from 'vitest';
import { apiKey, send } from './client.ts';
import { smokeRequests } from './smoke-requests.ts';

describe('a stage that was just deployed', () => {
  it.each(smokeRequests(apiKey))('$title', async ({ request, error }) => {
    const { status, text } = await send(request);
    expect(status, text).toBe(error?.status ?? 200);
    const body: unknown = JSON.parse(text);
    if (error) expect(body).toEqual(error.body);
    else expect(body).toBeInstanceOf(Array);
  });
});
