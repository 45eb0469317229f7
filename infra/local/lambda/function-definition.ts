import * as v from 'valibot';
import { Ref, resourcesOf, type Template } from '../../build/template.ts';

const LogicalId = v.pipe(
  Ref,
  v.transform((reference) => reference.Ref),
);
const LambdaFunction = v.pipe(
  v.object({
    Handler: v.pipe(v.string(), v.regex(/^[\w-]+\.handler$/)),
    Timeout: v.number(),
    MemorySize: v.number(),
    Environment: v.object({ Variables: v.record(v.string(), v.union([v.string(), LogicalId])) }),
  }),
  v.transform(({ Handler, Timeout, MemorySize, Environment }) => ({
    bundleName: Handler.replace('.handler', ''),
    timeoutMs: Timeout * 1_000,
    memoryMiB: MemorySize,
    environment: Environment.Variables,
  })),
);

/**
 * A Lambda function as a template declares it, with the name of the bundle that exports its
 * `handler`. Its name is its logical id. A variable that refers to a resource has the logical id of
 * that resource as its value.
 */
export type FunctionDefinition = v.InferOutput<typeof LambdaFunction> & {
  readonly functionName: string;
};

/**
 * Reads the functions with these logical ids. Returns them by id. Throws for an environment variable that is
 * neither text nor a `Ref`.
 */
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
