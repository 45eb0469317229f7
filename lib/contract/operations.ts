import * as v from 'valibot';
import { ListPetsQuery, Pets } from './list-pets-query.ts';
import { NewPet, PetResponse } from './pet.ts';
import type { RequestSchema } from './requests.ts';
import { type OperationName, type Route, routes } from './routes.ts';

/** When an operation was deprecated, when it is removed, and what replaces it. */
export interface Deprecation {
  readonly since: Date;
  /** From this instant on the operation returns 410. */
  readonly sunset: Date;
  /** Path of the operation to use instead, relative to the base address. */
  readonly successor: string;
}

/** One operation of the contract: the stack routes it, and a handler responds to it. */
export interface Operation<Query = unknown> extends Route {
  readonly name: OperationName;
  /** All parameters that the operation takes in its query. */
  readonly query: RequestSchema<Query>;
  /** The schema of the body that the operation takes, under its name in openapi.json. */
  readonly body?: Readonly<Record<string, RequestSchema<unknown>>>;
  /** The status of a successful response. A response with 204 has no body. */
  readonly successStatus: 200 | 201 | 204;
  readonly deprecation?: Deprecation;
  readonly stability?: 'experimental' | 'beta';
}

const NoQuery = v.object({});

/** Adds the route. Without side effects, so that a function bundles its own operation only. */
/* @__NO_SIDE_EFFECTS__ */
const operation = <Name extends OperationName, Rest extends Omit<Operation, 'name' | keyof Route>>(
  name: Name,
  rest: Rest,
) => ({ name, ...routes[name], ...rest });

export const listPets = operation('listPets', { query: ListPetsQuery, successStatus: 200 });
export const createPet = operation('createPet', {
  query: NoQuery,
  body: { NewPet },
  successStatus: 201,
});
export const getPet = operation('getPet', {
  query: NoQuery,
  successStatus: 200,
  deprecation: {
    since: new Date('2026-11-21T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: '/pets',
  },
});

const definitions = {
  listPets,
  createPet,
  getPet,
} satisfies { readonly [Name in OperationName]: Operation & { readonly name: Name } };

/** Every operation of the contract. */
export const operations: readonly Operation[] = /* @__PURE__ */ Object.values(definitions);

/** Whether the sunset of an operation has come, so that it responds with 410. */
export const isRemoved = ({ deprecation }: Pick<Operation, 'deprecation'>): boolean =>
  deprecation !== undefined && Date.now() >= deprecation.sunset.getTime();

/**
 * The schema of each operation's response, under its name in openapi.json, unless it has no body. It is for
 * checks and documents; no function of the API bundles it.
 */
export const responseSchemas: Readonly<
  Record<OperationName, Readonly<Record<string, v.GenericSchema>>>
> = {
  listPets: { Pets },
  createPet: { Pet: PetResponse },
  getPet: { Pet: PetResponse },
};

/** The names of the parameters that an operation takes in its path, its query and its headers. */
export type ParameterName<Name extends OperationName> =
  | RouteParameterName<Name>
  | keyof (typeof definitions)[Name]['query']['entries'];

/** The names of the parameters that an operation takes in its path and its headers. */
export type RouteParameterName<Name extends OperationName> =
  | NamesIn<(typeof routes)[Name]['path']>
  | (typeof routes)[Name]['headers'][number];

type NamesIn<Path extends string> = Path extends `${string}{${infer First}}${infer Rest}`
  ? First | NamesIn<Rest>
  : never;
