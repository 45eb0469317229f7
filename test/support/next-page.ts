/** The query of the next page, which a Link header of `GET /pets` names (RFC 8288); undefined on the last page. */
export const nextPageQuery = (link: unknown): string | undefined =>
  /<[^>]*\/pets\?([^>]+)>; rel="next"/.exec(`${link}`)?.[1];
