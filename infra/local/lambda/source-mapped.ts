import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { projectDirectory } from '../../build/project-directory.ts';

/** Returns a stack whose frames name the sources of a bundle, if its source map is beside it. */
export const sourceMapped = (stack: string, directory: string): string =>
  stack.replace(
    /^( +at ).*?([\w-]+)\.cjs:(\d+):(\d+)\)?$/gm,
    (frame, indent, name, line, column) => {
      const map = join(directory, `${name}.cjs.map`);
      if (!existsSync(map)) return frame;
      const sources = new SourceMap(JSON.parse(readFileSync(map, 'utf8')));
      const origin = sources.findOrigin(Number(line), Number(column));
      if (!('fileName' in origin)) return frame;
      const source = relative(projectDirectory, resolve(directory, origin.fileName));
      return `${indent}${source}:${origin.lineNumber}:${origin.columnNumber}`;
    },
  );
