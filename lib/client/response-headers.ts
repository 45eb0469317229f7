/** A target of `Link` (RFC 8288), or the name and the value of one of its parameters. */
const linkPart =
  /<([^<>]*)>|;\s*([^\s=;,"<]+)\s*(?:=\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^\s;,"]*)))?/g;

/**
 * Returns the query of the link to the next page, or `undefined` without such a link. The link's host is
 * ignored, so that host never gets the API key. The time is linear in the length of the header.
 */
export const nextPageQuery = (link: string | null): URLSearchParams | undefined => {
  let target = '';
  for (const [, newTarget, name, quoted, token = ''] of (link ?? '').matchAll(linkPart)) {
    target = newTarget ?? target;
    const relations = name?.toLowerCase() === 'rel' ? (quoted ?? token).toLowerCase() : '';
    if (relations.split(/\s+/).includes('next')) {
      return new URLSearchParams(target.replace(/^[^?]*/, ''));
    }
  }
  return undefined;
};

/**
 * Returns how long `Retry-After` asks to wait, in ms. Returns `undefined` for anything but a number of
 * seconds: the service sends no dates, and the clock of the client may be wrong.
 */
export const retryAfterMs = (retryAfter: string | null): number | undefined =>
  /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : undefined;
