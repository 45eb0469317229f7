import { registerHooks } from 'node:module';
import ts from 'typescript-5';

const isInt64 = ({ format, maximum }: { readonly format?: string; readonly maximum?: number }) =>
  format === 'int64' && !Number.isSafeInteger(maximum);

const { createUnionTypeNode, createKeywordTypeNode } = ts.factory;

/** The TypeScript types of an OpenAPI document, as source text. What doubles can't hold is `number | bigint`. */
export const typesOf = async (document: string): Promise<string> => {
  // It is written for the compiler's API, which TypeScript has not had since version 7.
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  });
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  hooks.deregister();
  const types = await openapiTypescript(document, {
    immutable: true,
    defaultNonNullable: false,
    transform: (schema) =>
      isInt64(schema)
        ? createUnionTypeNode([
            createKeywordTypeNode(ts.SyntaxKind.NumberKeyword),
            createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword),
          ])
        : undefined,
  });
  return `// Written by npm run openapi, from openapi.json.\n\n${astToString(types)}`;
};
