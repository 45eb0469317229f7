import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../build/template.ts';

const LogicalId = z.pipe(
  Ref,
  z.transform((reference) => reference.Ref),
);
const LambdaFunction = z.pipe(
  z.object({
    Handler: z.string().check(z.regex(/^[\w-]+\.handler$/)),
    Timeout: z.number(),
    MemorySize: z.number(),
    Environment: z.object({ Variables: z.record(z.string(), z.union([z.string(), LogicalId])) }),
  }),
  z.transform(({ Handler, Timeout, MemorySize, Environment }) => ({
    bundleName: Handler.replace('.handler', ''),
    timeoutMs: Timeout * 1_000,
    memoryMiB: MemorySize,
    environment: Environment.Variables,
  })),
);

/**
 * A Lambda function as a template declares it, with the name of the bundle that exports its `handler`. Its name is its
 * logical id. The value of a variable that refers to a resource is the logical id of that resource.
 */
export type FunctionDefinition = z.output<typeof LambdaFunction> & {
  readonly functionName: string;
};

/** Reads the functions with these logical ids, by id. Throws for an environment variable that is neither text nor a `Ref`. */
export const functionsOf = (template: Template, ids: ReadonlySet<string>) => {
  const chosen = Object.entries(template.Resources).filter(([id]) => ids.has(id));
  const Resources = Object.fromEntries(chosen);
  const functions = resourcesOf({ Resources }, 'AWS::Lambda::Function', LambdaFunction);
  return new Map(
    [...functions].map(([id, one]): [string, FunctionDefinition] => [
      id,
      { functionName: id, ...one },
    ]),
  );
};
