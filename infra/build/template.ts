import * as z from 'zod/mini';

const Template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
});

/** A CloudFormation template, as far as the local service reads it. */
export type Template = z.output<typeof Template>;

/** `{ Ref: logicalId }`. */
export const Ref = z.object({ Ref: z.string() });

/** Reads the text of a CloudFormation template. Throws for any other text. */
export const parseTemplate = (text: string): Template => Template.parse(JSON.parse(text));

/** The properties of every resource of a type, by logical id. Throws for one that is built differently than expected. */
export const resourcesOf = <Schema extends z.ZodMiniType>(
  template: Template,
  type: string,
  schema: Schema,
): Map<string, z.output<Schema>> =>
  new Map(
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, { Properties }]) => {
        const result = schema.safeParse(Properties);
        if (result.success) return [id, result.data];
        const [issue] = result.error.issues;
        throw new Error(`Can't read ${type} ${id}: ${issue?.path.join('.')}: ${issue?.message}`);
      }),
  );
