import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../template/template.ts';

/** A Lambda function as a template declares it, its environment resolved. */
export interface FunctionDefinition {
  readonly functionName: string;
  /** Name of the bundle, the file's part of the `Handler`. */
  readonly bundleName: string;
  /** Name of the export that handles events, the other part of the `Handler`. */
  readonly exportName: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  readonly environment: Readonly<Record<string, string>>;
}

const LambdaFunction = z.object({
  Handler: z.string().check(z.regex(/^[\w-]+\.\w+$/)),
  Timeout: z._default(z.number(), 3),
  MemorySize: z._default(z.number(), 128),
  Environment: z._default(
    z.object({ Variables: z._default(z.record(z.string(), z.unknown()), {}) }),
    { Variables: {} },
  ),
});

/**
 * The functions of a template by logical id, those of `ids`. `names` gives the physical names of other resources.
 * Throws for an environment variable whose value can't be worked out.
 */
export const functionsOf = (
  template: Template,
  names: ReadonlyMap<string, string>,
  ids: ReadonlySet<string>,
): Map<string, FunctionDefinition> =>
  new Map(
    [...resourcesOf(template, 'AWS::Lambda::Function', LambdaFunction)].flatMap(
      ([id, properties]) => {
        if (!ids.has(id)) return [];
        const [bundleName = '', exportName = ''] = properties.Handler.split('.');
        const variables = Object.entries(properties.Environment.Variables).map(([name, value]) => {
          const resolved = resolve(value, names);
          if (resolved !== undefined) return [name, resolved];
          throw new Error(`The local service can't work out the variable ${name} of ${id}.`);
        });
        const definition = {
          functionName: id,
          bundleName,
          exportName,
          timeoutMs: properties.Timeout * 1_000,
          memoryMiB: properties.MemorySize,
          environment: Object.fromEntries(variables),
        };
        return [[id, definition] as const];
      },
    ),
  );

/** The text of a template's value, as far as it is known before a deployment. */
const resolve = (value: unknown, names: ReadonlyMap<string, string>): string | undefined => {
  if (typeof value === 'string') return value;
  const { data: ref } = Ref.safeParse(value);
  return ref && names.get(ref.Ref);
};
