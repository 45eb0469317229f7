import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;
type Reference = { readonly $ref: string };

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Parameter extends Header {
  readonly in: string;
  readonly name: string;
}

interface Response {
  readonly headers: Readonly<Record<string, Reference | Header>>;
  readonly content: Readonly<
    Record<
      string,
      { readonly schema: Schema; readonly examples: Readonly<Record<string, unknown>> }
    >
  >;
}

/** An operation of the document, as far as it is read here. */
export interface DocumentedOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, Header>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

/** The text of the committed OpenAPI document. */
export const contractText = readFileSync(join(import.meta.dirname, '..', 'openapi.json'), 'utf8');
export const contract: Document = JSON.parse(contractText);

/** The document with its objects closed: clients must bear fields that they don't know, the service must not send them. */
const closed = {
  ...contract,
  components: {
    ...contract.components,
    schemas: Object.fromEntries(
      Object.entries(contract.components.schemas).map(([name, schema]) => [
        name,
        schema['type'] === 'object' ? { ...schema, additionalProperties: false } : schema,
      ]),
    ),
  },
};

// Loosely, for the document around the schemas is none; Redocly has checked them.
const ajv = new Ajv2020({ strictSchema: false, formats: { int64: true } }).addSchema(
  closed,
  'openapi.json',
);

const validatorOf = (schema: Schema) =>
  typeof schema['$ref'] === 'string'
    ? ajv.getSchema(`openapi.json${schema['$ref']}`)
    : ajv.compile(schema);

/** What is wrong with a value, by a schema of the document. */
const mismatches = (place: string, schema: Schema, value: unknown): string[] => {
  const validate = validatorOf(schema);
  if (!validate) throw new Error(`The document has no ${schema['$ref']}`);
  return validate(value) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
};

/** What is wrong with a body, by a named schema of the document. */
export const bodyMismatches = (schema: string, body: unknown): string[] =>
  mismatches(schema, { $ref: `#/components/schemas/${schema}` }, body);
