/**
 * Returns the query of the link to the next page (`Link`, RFC 8288), or `undefined` without such
 * a link. The link's host is ignored, so that host never gets the API key. The time is linear in
 * the length of the header.
 */
export const nextPageQuery = (link: string | null): URLSearchParams | undefined => {
  // Neither a URI nor these parameters contain `<` or `>`.
  for (const each of (link ?? '').split('<')) {
    const [target = '', parameters = ''] = each.split('>', 2);
    const isNext = parameters.split(/[;,]/).some((parameter) => isRelationNext(parameter.trim()));
    if (isNext) return new URLSearchParams(target.slice(target.indexOf('?') + 1));
  }
  return undefined;
};

const isRelationNext = (parameter: string) =>
  parameter === 'rel="next"' || parameter === 'rel=next';

/**
 * Returns how long `Retry-After` (RFC 9110) asks to wait, in ms. Returns `undefined` if the
 * header is absent or malformed.
 */
export const retryAfterMs = (retryAfter: string | null): number | undefined => {
  const value = retryAfter ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // `Date.parse` also accepts text that is not an HTTP date, such as `-1`.
  const date = value.endsWith(' GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};
