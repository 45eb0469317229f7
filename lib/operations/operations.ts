import type { OperationName } from '../contract/routes.ts';
import { createPet, createPetCheck, createPetDetails } from './create-pet.ts';
import { getPet, getPetCheck, getPetDetails } from './get-pet.ts';
import { listPets, listPetsCheck, listPetsDetails } from './list-pets.ts';
import type { Operation } from './operation.ts';
import type { OperationCheck } from './operation-check.ts';
import type { AnyDetails } from './operation-details.ts';

// An operation is registered in each of these. They are apart, because a function bundles what it uses.
const definitions = { listPets, createPet, getPet } satisfies {
  readonly [Name in OperationName]: Operation & { readonly name: Name };
};
const checks: Readonly<Record<OperationName, (petId: number) => OperationCheck>> = {
  listPets: listPetsCheck,
  createPet: createPetCheck,
  getPet: getPetCheck,
};
const details: Readonly<Record<OperationName, () => AnyDetails>> = {
  listPets: listPetsDetails,
  createPet: createPetDetails,
  getPet: getPetDetails,
};

/** Every operation of the contract. */
export const operations: readonly Operation[] = /* @__PURE__ */ Object.values(definitions);

/**
 * Returns the request of the check before traffic to an operation. The check has added the pet of this id.
 */
export const checkOf = (name: OperationName, petId: number): OperationCheck => checks[name](petId);

/** Returns what documents, stack and commands need to know of an operation. No function bundles it. */
export const detailsOf = (name: OperationName): AnyDetails => details[name]();
