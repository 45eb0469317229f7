import { type Int64, type Pet, type PetStatus, petStatuses } from './bodies.ts';

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

export const isInt64 = (value: unknown): value is Int64 =>
  typeof value === 'bigint'
    ? value >= int64Bounds.minimum && value <= int64Bounds.maximum
    : Number.isSafeInteger(value);

export const isPetStatus = (value: unknown): value is PetStatus =>
  petStatuses.some((status) => status === value);

/** Parses the id of a pet in a path. Returns `undefined` for an invalid id. */
export const parsePetId = (text: string | undefined): number | undefined => {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
};

/** Converts a stored item to a pet. Throws if a field is missing or invalid. */
export const toPet = ({ id, name, categoryId, status }: Record<string, unknown>): Pet => {
  if (
    typeof id !== 'number' ||
    !Number.isSafeInteger(id) ||
    id < 1 ||
    typeof name !== 'string' ||
    !isInt64(categoryId) ||
    !isPetStatus(status)
  ) {
    throw new Error('A stored pet is malformed');
  }
  return { id, name, categoryId, status };
};
