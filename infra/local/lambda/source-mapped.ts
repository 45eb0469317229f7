import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative, resolve } from 'node:path';
import { bundleDirectory, sourceMapFile } from '../../build/bundle-functions.ts';
import { projectDirectory } from '../../project-directory.ts';

/** Returns a stack whose frames name the source instead of the bundle, wherever a source map is found. */
export const sourceMapped = (stack: string): string =>
  stack.replace(
    /^( +at ).*?([\w-]+)\.cjs:(\d+):(\d+)\)?$/gm,
    (frame, indent, name, line, column) => {
      const origin = originOf(name, Number(line), Number(column));
      return origin ? `${indent}${origin}` : frame;
    },
  );

const originOf = (name: string, line: number, column: number): string | undefined => {
  try {
    const map = new SourceMap(JSON.parse(readFileSync(sourceMapFile(name), 'utf8')));
    const origin = map.findOrigin(line, column);
    if (!('fileName' in origin)) return undefined;
    const file = relative(projectDirectory, resolve(bundleDirectory(name), origin.fileName));
    return `${file}:${origin.lineNumber}:${origin.columnNumber}`;
  } catch {
    return undefined;
  }
};
