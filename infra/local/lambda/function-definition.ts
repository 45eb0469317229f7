import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../template/template.ts';

/** A Lambda function as a template declares it, its environment resolved. */
export interface FunctionDefinition {
  readonly functionName: string;
  /** Name of the bundle, which exports `handler`. */
  readonly bundleName: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  readonly environment: Readonly<Record<string, string>>;
}

const LambdaFunction = z.object({
  Handler: z.string().check(z.regex(/^[\w-]+\.handler$/)),
  Timeout: z.number(),
  MemorySize: z.number(),
  Environment: z.object({ Variables: z.record(z.string(), z.union([z.string(), Ref])) }),
});

/**
 * The functions of a template by logical id. `names` gives the physical names of other resources.
 * Throws for an environment variable whose value can't be worked out.
 */
export const functionsOf = (
  template: Template,
  names: ReadonlyMap<string, string>,
): Map<string, FunctionDefinition> =>
  new Map(
    [...resourcesOf(template, 'AWS::Lambda::Function', LambdaFunction)].map(([id, properties]) => {
      const variables = Object.entries(properties.Environment.Variables).map(([name, value]) => {
        const resolved = typeof value === 'string' ? value : names.get(value.Ref);
        if (resolved !== undefined) return [name, resolved];
        throw new Error(`The local service can't work out the variable ${name} of ${id}.`);
      });
      return [
        id,
        {
          functionName: id,
          bundleName: properties.Handler.replace('.handler', ''),
          timeoutMs: properties.Timeout * 1_000,
          memoryMiB: properties.MemorySize,
          environment: Object.fromEntries(variables),
        },
      ];
    }),
  );
