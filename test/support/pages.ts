import { expect } from 'vitest';
import type { Values } from './events.ts';
import type { InvokeOptions, Send } from './handlers.ts';

/** Reads a page of a list, and the query of the next page from its Link (RFC 8288). */
export const readPage = async (send: Send, query: Values, options?: InvokeOptions) => {
  const response = await send({ query }, options);
  expect(response.status).toBe(200);
  const link = response.headers['Link'];
  if (link === undefined) return { ...response, next: undefined };
  const target = /^<\/v1\/pets\?([^>]+)>; rel="next"$/.exec(`${link}`)?.[1];
  expect(target).toBeDefined();
  return { ...response, next: Object.fromEntries(new URLSearchParams(target)) };
};

/** Reads all pages of a list: the one of a query, and then those that the links lead to. */
export const walkPages = async (send: Send, query: Values | undefined) => {
  const pages: Awaited<ReturnType<typeof readPage>>[] = [];
  for (let next = query; next; next = pages.at(-1)?.next) pages.push(await readPage(send, next));
  return pages;
};
