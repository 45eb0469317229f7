/** When an operation was deprecated, when it is removed, and what replaces it. */
export interface Deprecation {
  readonly since: Date;
  /** From this instant on the operation returns 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, relative to the base address. */
  readonly successor: string;
}

/** Where a request for an operation is sent. */
interface Route {
  readonly method: 'GET' | 'POST';
  /** Path template relative to the base address, in the syntax of API Gateway resources. */
  readonly path: string;
}

/** The route of each operation, by name. All that `unrouted` bundles of the operations. */
const routes = {
  listPets: { method: 'GET', path: '/pets' },
  createPet: { method: 'POST', path: '/pets' },
  getPet: { method: 'GET', path: '/pets/{petId}' },
} as const satisfies Readonly<Record<string, Route>>;

export type OperationName = keyof typeof routes;

/** One operation of the contract: the stack routes it, and a handler responds to it. */
export interface Operation extends Route {
  readonly name: OperationName;
  /** The status of a successful response. */
  readonly success: 200 | 201;
  readonly deprecation?: Deprecation;
  readonly stability?: 'experimental' | 'beta';
}

/** Adds the route. Each definition has a name of its own, so that a function bundles no other operation. */
/* @__NO_SIDE_EFFECTS__ */
const operation = <Name extends OperationName, Rest extends Omit<Operation, 'name' | keyof Route>>(
  name: Name,
  rest: Rest,
) => ({ name, ...routes[name], ...rest });

export const listPets = operation('listPets', { success: 200 });
export const createPet = operation('createPet', { success: 201 });
export const getPet = operation('getPet', {
  success: 200,
  deprecation: {
    since: new Date('2026-11-21T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: '/pets',
  },
});

/** Every operation of the contract. */
export const operations: readonly Operation[] = /* @__PURE__ */ Object.values({
  listPets,
  createPet,
  getPet,
} satisfies { readonly [Name in OperationName]: Operation & { readonly name: Name } });

/** The methods that reach an operation's function: HEAD is GET without a body (RFC 9110 §9.3.2). */
export const methodsOf = ({ method }: Route): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Every method of a path template, for `Allow`; empty for a template without operations. */
export const allowedMethods = (template: string): readonly string[] => {
  const methods = Object.values(routes)
    .filter(({ path }) => path === template)
    .flatMap(methodsOf);
  return methods.length === 0 ? [] : [...methods, 'OPTIONS'];
};
