import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';

/** The query of the next page, which a Link header of `GET /pets` names (RFC 8288); undefined on the last page. */
export const nextPageQuery = (link: unknown): string | undefined =>
  /<[^>]*\/pets\?([^>]+)>; rel="next"/.exec(`${link}`)?.[1];

/** Pets by status and id, as `GET /pets` lists them. */
export const inListOrder = (pets: Iterable<Pet>): Pet[] =>
  [...pets].sort(
    (left, right) =>
      petStatuses.indexOf(left.status) - petStatuses.indexOf(right.status) || left.id - right.id,
  );
