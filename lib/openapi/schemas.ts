import { type ConversionConfig, type JsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { ErrorBody } from '../contract/error-body.ts';
import { errorDescriptions } from '../contract/errors.ts';
import { fieldsOf } from '../contract/is-record.ts';
import { PetStatus } from '../contract/pet.ts';
import type { OperationName } from '../contract/routes.ts';
import type { Operation } from '../operations/operation.ts';
import { operations } from '../operations/operations.ts';

/** Returns a reference to a schema. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const DocumentedError = v.pipe(
  v.object({
    ...ErrorBody.entries,
    code: v.pipe(ErrorBody.entries.code, v.examples(Object.keys(errorDescriptions))),
  }),
  v.metadata({ description: 'The body of every error response of the service.' }),
);

const DefaultValue = v.union([v.string(), v.number()]);

const conversion: ConversionConfig = {
  typeMode: 'output',
  target: 'draft-2020-12',
  // What a check or a custom schema requires is in the metadata beside it.
  ignoreActions: ['check'],
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    if (valibotSchema.type === 'custom') return jsonSchema;
    if (!('default' in jsonSchema)) return undefined;
    // A schema has its default as input, such as the text of a query parameter.
    return { ...jsonSchema, default: v.parse(DefaultValue, v.parse(valibotSchema, undefined)) };
  },
  overrideRef: ({ referenceId }) => ref(referenceId).$ref,
};

/** Returns the title of a schema, which is its name in the document. Throws if it has none. */
export const titleOf = (schema: v.GenericSchema): string => {
  const { title } = fieldsOf(v.getMetadata(schema));
  if (typeof title !== 'string')
    throw new Error('The metadata of the schema of a body have no title');
  return title;
};

const byTitle = (schemas: readonly (v.GenericSchema | undefined)[]) =>
  Object.fromEntries(
    schemas.flatMap((schema) => (schema ? [[titleOf(schema), schema] as const] : [])),
  );

/** The schemas of request bodies, and what they share with parameters. */
const requestSchemas: Readonly<Record<string, v.GenericSchema>> = {
  PetStatus,
  ...byTitle(operations.map(({ input }) => input.body)),
};

/** The schemas of responses. */
const responseSchemas: Readonly<Record<string, v.GenericSchema>> = {
  ...byTitle(operations.map(({ response }) => response)),
  Error: DocumentedError,
};

/**
 * Keeps what a reader needs to read a value, and leaves out each rule by which a generated client would
 * refuse the value, and with it a whole page. The values of an enum become examples.
 */
const withoutRules = (schema: JsonSchema | boolean): JsonSchema | boolean => {
  if (typeof schema === 'boolean') return schema;
  const { $ref, type, format, description, required, enum: known, examples = known } = schema;
  const { properties, items, anyOf } = schema;
  return {
    ...{ $ref, type, format, description, examples, required },
    properties: properties && mapValues(properties, withoutRules),
    items: Array.isArray(items) ? items.map(withoutRules) : items && withoutRules(items),
    anyOf: anyOf?.map(withoutRules),
  };
};

const mapValues = <Value, Result>(
  values: Readonly<Record<string, Value>>,
  convert: (value: Value, name: string) => Result,
): Record<string, Result> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value, name)]));

/** The parameters that an operation takes in its path, its query and its headers. */
const parametersOf = ({ input: { path, query, headers } }: Operation) =>
  v.object({ ...path.entries, ...query.entries, ...headers.entries });
const parameters = Object.fromEntries(
  operations.map((operation) => [`parameters of ${operation.name}`, parametersOf(operation)]),
);
const requests = toJsonSchemaDefs({ ...requestSchemas, ...parameters }, conversion);
const responses = toJsonSchemaDefs(responseSchemas, conversion);

/** The JSON Schemas that the document names. */
export const componentSchemas = {
  ...mapValues(requestSchemas, (_schema, name) => ({ ...requests[name], title: undefined })),
  ...mapValues(responses, withoutRules),
};

/** Returns the JSON Schemas of the parameters of an operation, by name. */
export const parameterSchemas = (name: OperationName) =>
  requests[`parameters of ${name}`]?.properties ?? {};
