import type { Pet } from '../contract/pet.ts';

/** The pet of the contract's examples. */
export const examplePet: Pet = {
  id: 7905532871371142,
  name: 'Rex',
  categoryId: 1,
  status: 'available',
};
