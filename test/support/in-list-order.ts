import { petStatuses } from '../../lib/contract/pet.ts';

/** Pets by status and id, as `GET /pets` lists them. */
export const inListOrder = <Pet extends { readonly id: number; readonly status: string }>(
  pets: Iterable<Pet>,
): Pet[] => {
  const statuses: readonly string[] = petStatuses;
  return [...pets].sort(
    (left, right) =>
      statuses.indexOf(left.status) - statuses.indexOf(right.status) || left.id - right.id,
  );
};
