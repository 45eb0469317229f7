import * as v from 'valibot';
import { Pet } from '../contract/pet.ts';

/**
 * An item of the pets table: a pet with the data that tells a replay of its creation from another request.
 */
export interface StoredPet extends Pet {
  /** The identity of the creation, 32 bytes. */
  readonly creation: Uint8Array;
  /** The fingerprint of the creation, 32 bytes. */
  readonly fingerprint: Uint8Array;
}

/** Converts a stored item to a pet. Throws if a field is missing or invalid. */
export const toPet = (item: Record<string, unknown>): Pet => {
  const { success, output } = v.safeParse(Pet, item);
  // Valibot's own error would repeat the item.
  if (!success) throw new Error('A stored pet is malformed');
  return output;
};
