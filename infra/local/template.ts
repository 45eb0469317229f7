import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

const Template = v.object({
  Resources: v.record(
    v.string(),
    v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
});

/** A CloudFormation template, with the parts that the local service reads. */
export type Template = v.InferOutput<typeof Template>;

/** A reference to a resource, `{ Ref: logicalId }`. */
export const Ref = v.object({ Ref: v.string() });

/** Parses the text of a CloudFormation template. Throws for any other text. */
export const parseTemplate = (text: string): Template => v.parse(Template, JSON.parse(text));

/** Reads the template of a stack, by its name, from a folder of synthesised stacks. */
export const readTemplate = async (assembly: string, stack: string): Promise<Template> =>
  parseTemplate(await readFile(join(assembly, `${stack}.template.json`), 'utf8'));

/**
 * Returns the properties of every resource of a type, by logical id. Throws if a resource
 * does not match the schema.
 */
export const resourcesOf = <Schema extends v.GenericSchema>(
  template: Template,
  type: string,
  schema: Schema,
): Map<string, v.InferOutput<Schema>> =>
  new Map(
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, { Properties }]) => {
        const result = v.safeParse(schema, Properties);
        if (result.success) return [id, result.output];
        throw new Error(`Can't read ${type} ${id}: ${v.summarize(result.issues)}`);
      }),
  );
