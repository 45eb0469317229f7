import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { bundleDirectory } from '../../lambda/bundle-functions.ts';
import type { FunctionDefinition } from './function-definition.ts';
import { LambdaFunction, type LambdaFunctionOptions } from './lambda-function.ts';

/** The functions that run at the moment, by logical id. */
export class FunctionFleet {
  #functions = new Map<string, LambdaFunction>();
  readonly #shared: Pick<LambdaFunctionOptions, 'environment' | 'log'>;

  constructor(shared: Pick<LambdaFunctionOptions, 'environment' | 'log'>) {
    this.#shared = shared;
  }

  /**
   * Replaces each function whose definition or bundle has changed; invocations of the old one still end.
   * Gives all functions, and the names of the replaced ones.
   */
  async update(definitions: ReadonlyMap<string, FunctionDefinition>) {
    const replaced: string[] = [];
    const functions = new Map<string, LambdaFunction>();
    for (const [id, definition] of definitions) {
      const { bundleName } = definition;
      const filename = join(bundleDirectory(bundleName), `${bundleName}.cjs`);
      const code = await readFile(filename, 'utf8');
      const present = this.#functions.get(id);
      if (
        present?.options.code === code &&
        isDeepStrictEqual(present.options.definition, definition)
      ) {
        functions.set(id, present);
      } else {
        functions.set(id, new LambdaFunction({ definition, code, filename, ...this.#shared }));
        replaced.push(bundleName);
      }
    }
    const kept = new Set(functions.values());
    for (const present of this.#functions.values()) {
      if (!kept.has(present)) present.retire();
    }
    this.#functions = functions;
    return { functions, replaced };
  }

  /** Ends all functions at once. */
  async terminate(): Promise<void> {
    await Promise.all([...this.#functions.values()].map((present) => present.terminate()));
  }
}
