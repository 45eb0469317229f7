import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { ErrorBody } from '../contract/error-body.ts';
import { errorDescriptions } from '../contract/errors.ts';
import { operations, responseSchemas } from '../contract/operations.ts';
import { PetId, PetResponse, PetStatus } from '../contract/pet.ts';
import type { OperationName } from '../contract/routes.ts';

/** Returns a reference to a schema. Throws if the document has no schema of this name. */
export const ref = (name: string) => {
  if (!(name in components)) throw new Error(`The document has no schema ${name}`);
  return { $ref: `#/components/schemas/${name}` };
};

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

const components: Readonly<Record<string, v.GenericSchema>> = {
  PetStatus,
  ...Object.fromEntries(operations.flatMap(({ body = {} }) => Object.entries(body))),
  Pet: PetResponse,
  ...Object.fromEntries(Object.values(responseSchemas).flatMap(Object.entries)),
  ...{ Error: DocumentedError, PetId },
};
const queries = Object.fromEntries(
  operations.map(({ name, query }) => [`query of ${name}`, query]),
);
const schemas = toJsonSchemaDefs({ ...components, ...queries }, conversion);

/** The JSON Schemas that the document names. */
export const componentSchemas = Object.fromEntries(
  Object.keys(components).map((name) => [name, schemas[name]]),
);

/** The JSON Schemas of the parameters that an operation takes in its query, by name. */
export const queryParameters = (name: OperationName) =>
  schemas[`query of ${name}`]?.properties ?? {};
