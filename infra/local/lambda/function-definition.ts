import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../template/template.ts';

/** A Lambda function as a template declares it. */
export interface FunctionDefinition {
  readonly functionName: string;
  /** Name of the bundle, which exports `handler`. */
  readonly bundleName: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  /** A resource that a variable refers to is given by its logical id. */
  readonly environment: Readonly<Record<string, string>>;
}

const LogicalId = z.pipe(
  Ref,
  z.transform((reference) => reference.Ref),
);
const LambdaFunction = z.object({
  Handler: z.string().check(z.regex(/^[\w-]+\.handler$/)),
  Timeout: z.number(),
  MemorySize: z.number(),
  Environment: z.object({ Variables: z.record(z.string(), z.union([z.string(), LogicalId])) }),
});

/** These functions of a template, by logical id. Throws for an environment variable that is neither text nor a `Ref`. */
export const functionsOf = (
  { Resources }: Template,
  ids: ReadonlySet<string>,
): Map<string, FunctionDefinition> => {
  const chosen = Object.fromEntries(Object.entries(Resources).filter(([id]) => ids.has(id)));
  const functions = resourcesOf({ Resources: chosen }, 'AWS::Lambda::Function', LambdaFunction);
  return new Map(
    [...functions].map(([id, { Handler, Timeout, MemorySize, Environment }]) => [
      id,
      {
        functionName: id,
        bundleName: Handler.replace('.handler', ''),
        timeoutMs: Timeout * 1_000,
        memoryMiB: MemorySize,
        environment: Environment.Variables,
      },
    ]),
  );
};
