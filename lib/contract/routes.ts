/** When an operation was deprecated, when it is removed, and what replaces it. */
export interface Deprecation {
  readonly since: Date;
  /** From this instant on the operation returns 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, relative to the base address. */
  readonly successor: string;
}

/** Where a request for an operation is sent, and until when. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template relative to the base address, in the syntax of API Gateway resources. */
  readonly path: string;
  readonly deprecation?: Deprecation;
}

/** The route of each operation, by name. Apart from the rest, because `fallback` needs no schema. */
export const routes = {
  listPets: { method: 'GET', path: '/pets' },
  createPet: { method: 'POST', path: '/pets' },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    deprecation: {
      since: new Date('2026-11-21T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: '/pets',
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

export type OperationName = keyof typeof routes;

/** A function of the API: that of an operation, or the one for every other path and method. */
export type FunctionName = OperationName | 'fallback';

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
