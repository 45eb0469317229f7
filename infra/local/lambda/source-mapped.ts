import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { projectDirectory } from '../../build/project-directory.ts';

const readMap = (path: string): SourceMap | undefined =>
  existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined;

/** Returns a stack whose frames name the sources of a bundle, if its source map is beside it. */
export const sourceMapped = (stack: string, directory: string): string => {
  // A map takes milliseconds to read, and most frames are in the same bundle.
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(
    /^( +at ).*?([\w-]+)\.cjs:(\d+):(\d+)\)?$/gm,
    (frame, indent, name, line, column) => {
      const path = join(directory, `${name}.cjs.map`);
      if (!maps.has(path)) maps.set(path, readMap(path));
      const origin = maps.get(path)?.findOrigin(Number(line), Number(column));
      if (!origin || !('fileName' in origin)) return frame;
      const source = relative(projectDirectory, resolve(directory, origin.fileName));
      return `${indent}${source}:${origin.lineNumber}:${origin.columnNumber}`;
    },
  );
};
