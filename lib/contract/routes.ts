/** Where a request for an operation is sent. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path template relative to the base address, in the syntax of API Gateway resources. */
  readonly path: string;
}

/** The route of each operation, by name. Apart from the rest, because `fallback` needs no schema. */
export const routes = {
  listPets: { method: 'GET', path: '/pets' },
  createPet: { method: 'POST', path: '/pets' },
  getPet: { method: 'GET', path: '/pets/{petId}' },
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
