import { readdir, readFile } from 'node:fs/promises';
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
      const options = { definition, files: await deployedFiles(bundleName), ...this.#shared };
      const present = this.#functions.get(id);
      if (present && isDeepStrictEqual(present.options, options)) {
        functions.set(id, present);
      } else {
        functions.set(id, await LambdaFunction.deploy(options));
        replaced.push(bundleName);
      }
    }
    for (const [id, present] of this.#functions) {
      if (functions.get(id) !== present) present.retire();
    }
    this.#functions = functions;
    return { functions, replaced };
  }

  /** Ends all functions at once. */
  async terminate(): Promise<void> {
    await Promise.all([...this.#functions.values()].map((present) => present.terminate()));
  }
}

/** The files that are deployed as a function, by their names. */
const deployedFiles = async (bundleName: string): Promise<Record<string, string>> => {
  const directory = bundleDirectory(bundleName);
  const names = await readdir(directory);
  const texts = names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
};
