import * as v from 'valibot';
import { Sha256 } from '../aws/sha256.ts';
import { Pet } from '../contract/pet.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';

/**
 * An item of the pets table: a pet with the data that tells a replay of its creation from another request.
 */
export const StoredPet = v.object({
  ...Pet.entries,
  /** The identity of the creation. */
  creation: Sha256,
  /** The fingerprint of the creation. */
  fingerprint: Sha256,
});
export type StoredPet = Readonly<v.InferOutput<typeof StoredPet>>;

const parse = <Item>(schema: v.GenericSchema<unknown, Item>, item: unknown): Item => {
  const { success, output } = v.safeParse(schema, item);
  // Valibot's own error would repeat the item.
  if (!success) throw new LoggableError('A stored pet is malformed');
  return output;
};

/** Converts a stored item to a pet. Throws if a field of the pet is missing or invalid. */
export const toPet = (item: Readonly<Record<string, unknown>>): Pet => parse(Pet, item);

/** Checks a stored item. Throws if any of its fields is missing or invalid. */
export const toStoredPet = (item: Readonly<Record<string, unknown>>): StoredPet =>
  parse(StoredPet, item);

/** The index of the pets table that lists pets by status and id. */
export const statusIndex = 'byStatus';
