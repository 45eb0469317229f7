import { readTemplate } from '../build/build-stack.ts';
import type { Template } from '../build/template.ts';
import { stackName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { type TableDefinition, tablesOf } from './dynamodb/create-tables.ts';
import { type RestApiDefinition, restApiOf } from './gateway/rest-api-definition.ts';
import { type FunctionDefinition, functionsOf } from './lambda/function-definition.ts';

/** The parts of a template that the local service uses. */
export interface StackDefinition {
  readonly api: RestApiDefinition;
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  /** The tables, by the environment variable that gives functions the name of the table. */
  readonly tables: Readonly<Record<string, TableDefinition>>;
}

/**
 * Reads the parts of a stack's template that run locally. Throws when a route needs something that the local
 * service does not support.
 */
export const stackDefinitionOf = (template: Template): StackDefinition => {
  const api = restApiOf(template);
  const functions = functionsOf(template, new Set(api.routes.map(({ functionId }) => functionId)));
  const variables = [...functions.values()].flatMap((one) => Object.entries(one.environment));
  const tables = tablesOf(template).map((table) => [
    variables.find(([, value]) => value === table.TableName)?.[0] ?? table.TableName,
    table,
  ]);
  return { api, functions, tables: Object.fromEntries(tables) };
};

/** Reads a stage's stack from a folder of synthesised stacks. Throws the errors of `stackDefinitionOf`. */
export const readStack = async (
  assembly: string,
  stage: Pick<Stage, 'name'>,
): Promise<StackDefinition> => stackDefinitionOf(await readTemplate(assembly, stackName(stage)));
