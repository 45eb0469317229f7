import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';

/** Pets by status and id, as `GET /pets` lists them. */
export const inListOrder = (pets: Iterable<Pet>): Pet[] =>
  [...pets].sort(
    (left, right) =>
      petStatuses.indexOf(left.status) - petStatuses.indexOf(right.status) || left.id - right.id,
  );
