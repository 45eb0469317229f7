import * as v from 'valibot';
import { stackName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { type RestApiDefinition, restApiOf } from './gateway/rest-api-definition.ts';
import { Ref, readTemplate, resourcesOf, type Template } from './template.ts';

const Handler = v.pipe(v.string(), v.regex(/^[\w-]+\.handler$/));
const FunctionResource = v.object({
  Handler,
  Timeout: v.number(),
  MemorySize: v.number(),
  Environment: v.object({ Variables: v.record(v.string(), v.union([v.string(), Ref])) }),
});

/**
 * A function that needs no route, which may be one that the CDK adds. Its environment may have what only AWS
 * knows, such as an address.
 */
const AnyFunction = v.object({
  Handler: v.optional(v.string()),
  Environment: v.optional(v.object({ Variables: v.record(v.string(), v.unknown()) })),
});

/**
 * A Lambda function as a template declares it, with the name of the bundle that exports its
 * `handler`. Its name is its logical id. A variable that refers to a resource has the logical id of
 * that resource as its value.
 */
export interface FunctionDefinition {
  readonly functionName: string;
  readonly bundleName: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  readonly environment: Readonly<Record<string, string>>;
}

const KeySchema = v.array(
  v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }),
);
const Projection = v.object({
  ProjectionType: v.picklist(['ALL', 'INCLUDE', 'KEYS_ONLY']),
  NonKeyAttributes: v.optional(v.array(v.string())),
});
const Table = v.object({
  KeySchema,
  GlobalSecondaryIndexes: v.optional(
    v.array(v.object({ IndexName: v.string(), KeySchema, Projection })),
  ),
  AttributeDefinitions: v.array(
    v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }),
  ),
  BillingMode: v.literal('PAY_PER_REQUEST'),
});

/** A table of the template. The local table has the logical id as its name. */
export type TableDefinition = v.InferOutput<typeof Table> & { readonly TableName: string };

/** The parts of a template that the local service uses. */
export interface StackDefinition {
  readonly api: RestApiDefinition;
  /** The functions that routes call, by logical id. */
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  /** The tables, by the environment variable that gives functions the name of the table. */
  readonly tables: Readonly<Record<string, TableDefinition>>;
  /** The names of the functions that no route calls, so that nothing calls them on this machine. */
  readonly uncalled: readonly string[];
}

/**
 * Reads a stage's stack from a folder of synthesised stacks. Throws when a route needs something that the
 * local service does not support.
 */
export const readStack = async (
  assembly: string,
  stage: Pick<Stage, 'name'>,
): Promise<StackDefinition> => {
  const template = await readTemplate(assembly, stackName(stage));
  const api = restApiOf(template);
  const functions = functionsOf(template, new Set(api.routes.map(({ functionId }) => functionId)));
  const tables = resourcesOf(template, 'AWS::DynamoDB::Table', Table);
  const named: Record<string, TableDefinition> = {};
  const uncalled: string[] = [];
  for (const [id, one] of resourcesOf(template, 'AWS::Lambda::Function', AnyFunction)) {
    if (!functions.has(id)) uncalled.push(one.Handler?.replace(/\.handler$/, '') ?? id);
    for (const [variable, value] of Object.entries(one.Environment?.Variables ?? {})) {
      const TableName = v.is(Ref, value) ? value.Ref : '';
      const table = tables.get(TableName);
      if (table) named[variable] = { ...table, TableName };
    }
  }
  return { api, functions, tables: named, uncalled };
};

/**
 * Reads the functions with these logical ids. Returns them by id. Throws for an environment variable that is
 * neither text nor a `Ref`.
 */
export const functionsOf = (
  template: Template,
  ids: ReadonlySet<string>,
): Map<string, FunctionDefinition> => {
  const chosen = Object.entries(template.Resources).filter(([id]) => ids.has(id));
  const Resources = Object.fromEntries(chosen);
  const functions = new Map<string, FunctionDefinition>();
  for (const [id, one] of resourcesOf({ Resources }, 'AWS::Lambda::Function', FunctionResource)) {
    const variables = Object.entries(one.Environment.Variables);
    functions.set(id, {
      functionName: id,
      bundleName: one.Handler.replace('.handler', ''),
      timeoutMs: one.Timeout * 1_000,
      memoryMiB: one.MemorySize,
      environment: Object.fromEntries(
        variables.map(([name, value]) => [name, typeof value === 'string' ? value : value.Ref]),
      ),
    });
  }
  return functions;
};
