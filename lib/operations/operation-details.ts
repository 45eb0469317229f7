import type { ApiError } from '../contract/errors.ts';
import type { Operation } from './operation.ts';

/** A request to an operation; its body is sent as JSON. */
export interface ExampleRequest {
  /** The parameters in the path, by name. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** A throttle of API Gateway: the average number of requests per second, and the largest burst. */
export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

interface Throttles {
  readonly production: Throttle;
  /** Of every stage that is not in production. */
  readonly testing: Throttle;
}

/** A call of AWS that IAM lets the function make. */
interface Call {
  /**
   * The action as IAM names it. Add those of other services, but no `dynamodb:Scan`, which reads a whole table
   * for each request: a list is a `Query` of an index.
   */
  readonly action: `dynamodb:${'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query'}`;
  /** A resource of the stack, such as `PetsTable` or `PetsTable/index/byStatus`. */
  readonly resource: string;
  /**
   * What the call takes for the operation's example, in RCU or WCU; absent if the example does not make it.
   */
  readonly units?: number;
}

interface RequestBody {
  readonly description: string;
  /** Bodies that work, by name. */
  readonly examples: Readonly<Record<string, object>>;
}

/** A successful response. */
interface SuccessDetails {
  readonly description: string;
  /** The headers besides those of every response, and the name of each in `lib/openapi/headers.ts`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly links?: object;
}

interface Example {
  /** The items that the request needs, by the ids of their tables in the stack, such as `PetsTable`. */
  readonly items?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  /** A request that works. */
  readonly request: ExampleRequest;
  /** The same request as a call of the typed client, which is `store`. */
  readonly clientCall: string;
  /** Bodies of successful responses, by name. The first one responds to the request. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** The query of the page after that of the request, if the operation returns pages. */
  readonly nextPage?: Readonly<Record<string, string>>;
}

/** What documents, stack and commands need to know of any operation. No function bundles it. */
export interface AnyDetails {
  readonly summary: string;
  readonly description: string;
  /** The descriptions of the parameters in the path, the query and the headers. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly requestBody?: RequestBody;
  readonly response: SuccessDetails;
  readonly example: Example;
  /**
   * A request that gets 400, which the check before traffic sends instead of one that changes something. By
   * default it has an unknown query parameter.
   */
  readonly wrongRequest?: ExampleRequest;
  /** The errors that only this operation responds with. */
  readonly errors?: readonly ApiError[];
  /** The calls that the function makes besides finding the API key. It gets the permission for each. */
  readonly calls: readonly Call[];
  /** The throttles of an operation that needs others than its stage has: one that lists or writes. */
  readonly throttle?: Throttles;
}

/** The details of one operation, with each part that its definition requires. */
export type OperationDetails<Definition extends Operation> = Flat<
  Omit<AnyDetails, 'parameters' | 'requestBody'> & {
    readonly parameters: Readonly<Record<ParameterOf<Definition['input']>, string>>;
    readonly example: { readonly clientCall: `store.${Definition['name']}${string}` };
  } & (Definition['input'] extends { readonly body: object }
      ? { readonly requestBody: RequestBody }
      : unknown) &
    // A list reads a partition that all clients share, and a write changes it: infra/operations.md#limits.
    (Definition extends { readonly method: 'GET'; readonly path: `${string}}` }
      ? unknown
      : { readonly throttle: Throttles })
>;

type ParameterOf<Input extends Operation['input']> = keyof (Input['path']['entries'] &
  Input['query']['entries'] &
  Input['headers']['entries']);

/** One object type for an intersection of several, so that the compiler says in one line what is missing. */
type Flat<Type> = { readonly [Key in keyof Type]: Type[Key] };
