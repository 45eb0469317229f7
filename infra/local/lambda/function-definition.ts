import * as z from 'zod/mini';
import { Join, Ref, resourcesOf, type Template } from '../../template/template.ts';

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
  FunctionName: z.optional(z.string()),
  Handler: z.string().check(z.regex(/^[\w-]+\.\w+$/)),
  Timeout: z._default(z.number(), 3),
  MemorySize: z._default(z.number(), 128),
  Environment: z._default(
    z.object({ Variables: z._default(z.record(z.string(), z.unknown()), {}) }),
    { Variables: {} },
  ),
});

/** The region and the account that functions see; no request ever reaches them. */
export const localRegion = 'eu-west-1';
export const localAccount = '000000000000';

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Region': localRegion,
  'AWS::AccountId': localAccount,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/**
 * The functions that some route calls, by logical id. `names` gives the physical names of other resources.
 * Throws for an environment variable whose value can't be worked out.
 */
export const functionsOf = (
  template: Template,
  calledIds: ReadonlySet<string>,
  names: ReadonlyMap<string, string>,
): Map<string, FunctionDefinition> => {
  const called = Object.entries(template.Resources).filter(([id]) => calledIds.has(id));
  const functions = resourcesOf(
    { Resources: Object.fromEntries(called) },
    'AWS::Lambda::Function',
    LambdaFunction,
  );
  return new Map(
    [...functions].map(([id, properties]) => {
      const [bundleName = '', exportName = ''] = properties.Handler.split('.');
      return [
        id,
        {
          functionName: properties.FunctionName ?? id,
          bundleName,
          exportName,
          timeoutMs: properties.Timeout * 1_000,
          memoryMiB: properties.MemorySize,
          environment: Object.fromEntries(
            Object.entries(properties.Environment.Variables).map(([name, value]) => {
              const resolved = resolve(value, names);
              if (resolved !== undefined) return [name, resolved];
              throw new Error(`The local service can't work out the variable ${name} of ${id}.`);
            }),
          ),
        },
      ];
    }),
  );
};

/** The text that a template's value stands for, as far as that is known before a deployment. */
const resolve = (value: unknown, names: ReadonlyMap<string, string>): string | undefined => {
  if (typeof value === 'string') return value;
  const { data: ref } = Ref.safeParse(value);
  if (ref) return names.get(ref.Ref) ?? pseudoParameters[ref.Ref];
  const { data: join } = Join.safeParse(value);
  if (!join) return undefined;
  const [separator, parts] = join['Fn::Join'];
  const texts = parts.map((part) => resolve(part, names));
  return texts.includes(undefined) ? undefined : texts.join(separator);
};
