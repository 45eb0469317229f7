import type { GenericSchema, InferInput, InferOutput } from 'valibot';
import { ApiError } from '../contract/errors.ts';
import { parseBody, parseQuery } from '../contract/parse-request.ts';
import type { OperationName, routes } from '../contract/routes.ts';
import * as createPet from './create-pet.ts';
import * as getPet from './get-pet.ts';
import * as listPets from './list-pets.ts';
import type { Operation } from './operation.ts';
import type { AnyDetails, ExampleRequest } from './operation-details.ts';

/** What the file of an operation exports. */
interface OperationFile {
  /** What the function needs to know. */
  readonly definition: Operation;
  /** What documents, stack and commands need to know. No function of the API bundles it. */
  readonly details: () => AnyDetails;
}

/** The file of each operation with the types of its schemas, in the order of the documents. */
const all = { listPets, createPet, getPet };

/** The same files: each has the route and the name of its operation. */
const files: {
  readonly [Name in OperationName]: OperationFile & {
    readonly definition: (typeof routes)[Name] & { readonly name: Name };
  };
} = all;

/** The body of a request to each operation, as a client sends it; `never` if it takes none. */
export type RequestBodies = {
  [Name in OperationName]: (typeof all)[Name]['definition']['input'] extends {
    readonly body: infer Body extends GenericSchema;
  }
    ? Readonly<InferInput<Body>>
    : never;
};

/** The body of a successful response of each operation; `undefined` if it has none. */
export type ResponseBodies = {
  [Name in OperationName]: (typeof all)[Name]['definition'] extends {
    readonly response: infer Body extends GenericSchema;
  }
    ? InferOutput<Body>
    : undefined;
};

/** What the documents say of each tag: the first segment of a path, such as `pets`. */
export const tags: Readonly<Record<TagOf<(typeof routes)[OperationName]['path']>, string>> = {
  pets: 'The animals in the catalogue.',
};

type TagOf<Path extends string> = Path extends `/${infer First}/${string}`
  ? First
  : Path extends `/${infer Only}`
    ? Only
    : never;

/** Every operation of the contract. */
export const operations: readonly Operation[] = Object.values(files).map(
  ({ definition }) => definition,
);

/** Returns what documents, stack and commands need to know of an operation. */
export const detailsOf = (name: OperationName): AnyDetails => files[name].details();

/** Returns a request that an operation refuses, and the error. Throws if the operation would accept it. */
export const refusedRequestOf = ({
  name,
  input,
}: Operation): { readonly request: ExampleRequest; readonly error: ApiError } => {
  const { wrongRequest: request = { query: { expand: 'all' } } } = detailsOf(name);
  try {
    parseQuery(input.query, request.query ?? {});
    if (input.body) parseBody(input.body, request.body);
  } catch (error) {
    if (error instanceof ApiError) return { request, error };
  }
  throw new Error(`${name} accepts its wrongRequest, which must get 400`);
};
