import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { bundleDirectory, sourceMapFile } from '../../build/bundle-functions.ts';
import { projectDirectory } from '../../build/project-directory.ts';

/**
 * Returns a stack whose frames name the source instead of the bundle, wherever a source map is found: beside
 * the bundle in its directory, or that of the deployed bundle.
 */
export const sourceMapped = (stack: string, directory: string): string =>
  stack.replace(
    /^( +at ).*?([\w-]+)\.cjs:(\d+):(\d+)\)?$/gm,
    (frame, indent, name, line, column) => {
      const origin = originOf(directory, name, Number(line), Number(column));
      return origin ? `${indent}${origin}` : frame;
    },
  );

const originOf = (
  directory: string,
  name: string,
  line: number,
  column: number,
): string | undefined => {
  const besideBundle = join(directory, `${name}.cjs.map`);
  const [file, base] = existsSync(besideBundle)
    ? [besideBundle, directory]
    : [sourceMapFile(name), bundleDirectory(name)];
  try {
    const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
    const origin = map.findOrigin(line, column);
    if (!('fileName' in origin)) return undefined;
    const source = relative(projectDirectory, resolve(base, origin.fileName));
    return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
  } catch {
    return undefined;
  }
};
