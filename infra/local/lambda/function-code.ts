import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Template } from '../../template/template.ts';
import type { FunctionDefinition } from './function-definition.ts';

const Assets = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});
const Deployed = z.object({ Code: z.object({ S3Key: z.string() }) });

/**
 * Throws unless the code that each function is deployed with holds the module that its Handler names. Functions run
 * locally from the bundles, as those are made anew faster than the stack: so a stack that wires another function's code
 * would not be noticed.
 */
export const requireCode = async (
  template: Template,
  functions: ReadonlyMap<string, FunctionDefinition>,
  assembly: string,
  stackName: string,
): Promise<void> => {
  const folders = await foldersByKey(assembly, stackName);
  for (const [id, { bundleName }] of functions) {
    const { data: deployed } = Deployed.safeParse(template.Resources[id]?.Properties);
    const folder = deployed && folders.get(deployed.Code.S3Key);
    if (folder === undefined) {
      throw new Error(`The function ${id} is not deployed from a folder of the stack's assets.`);
    }
    const names = await readdir(folder);
    if (!names.includes(`${bundleName}.cjs`)) {
      throw new Error(
        `The function ${id} is deployed with the wrong code: its Handler needs ${bundleName}.cjs, its asset holds ${names.join(', ') || 'nothing'}.`,
      );
    }
  }
};

/** The folders that a deployment uploads, by the key that each gets in the bucket of assets. */
const foldersByKey = async (
  assembly: string,
  stackName: string,
): Promise<ReadonlyMap<string, string>> => {
  const text = await readFile(join(assembly, `${stackName}.assets.json`), 'utf8');
  return new Map(
    Object.values(Assets.parse(JSON.parse(text)).files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(
        ({ objectKey }) => [objectKey, join(assembly, source.path)] as const,
      ),
    ),
  );
};
