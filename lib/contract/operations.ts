/** When an operation was deprecated, when it is removed, and what replaces it. */
export interface Deprecation {
  readonly since: Date;
  /** From this instant on the operation returns 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, relative to the base address. */
  readonly successor: string;
}

export type OperationName = 'listPets' | 'createPet' | 'getPet';

/** One operation of the contract: the stack routes it, and a handler responds to it. */
export interface Operation {
  readonly name: OperationName;
  readonly method: 'GET' | 'POST';
  /** Path template relative to the base address, in the syntax of API Gateway resources. */
  readonly path: string;
  readonly deprecation?: Deprecation;
  readonly stability?: 'experimental' | 'beta';
}

export const listPets: Operation = { name: 'listPets', method: 'GET', path: '/pets' };
export const createPet: Operation = { name: 'createPet', method: 'POST', path: '/pets' };
export const getPet: Operation = {
  name: 'getPet',
  method: 'GET',
  path: '/pets/{petId}',
  deprecation: {
    since: new Date('2026-11-21T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: '/pets',
  },
};

/** Every operation of the contract. */
export const operations: readonly Operation[] = [listPets, createPet, getPet];

/** The methods that reach an operation's function: HEAD is GET without a body (RFC 9110 §9.3.2). */
export const methodsOf = ({ method }: Operation): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Every method of a path template, for `Allow`; empty for a template without operations. */
export const allowedMethods = (template: string): readonly string[] => {
  const methods = operations.filter(({ path }) => path === template).flatMap(methodsOf);
  return methods.length === 0 ? [] : [...methods, 'OPTIONS'];
};
