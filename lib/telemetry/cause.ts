import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import type { SdkError } from '@smithy/types';
import { LoggableError } from './loggable-error.ts';

const failedCalls = new WeakMap<Error, string>();

/** Names the call of AWS that ended with an error, so that the error's `causeOf` has its name. */
export const nameFailedCall = (thrown: unknown, call: string): void => {
  if (isError(thrown)) failedCalls.set(thrown, call);
};

/**
 * Describes an error for the log line of a request. It has the message of a `LoggableError` only, because
 * messages of libraries repeat the input of clients. `isDefect` adds the frames of its stack, unless it is an
 * error of AWS.
 */
export const causeOf = (thrown: unknown, isDefect: boolean) => {
  if (!isError(thrown)) return { name: typeof thrown };
  const { name, message, code, $metadata, stack } = thrown;
  return {
    name,
    message: thrown instanceof LoggableError ? message : undefined,
    code: typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined,
    httpStatus: $metadata?.httpStatusCode,
    requestId: $metadata?.requestId,
    call: failedCalls.get(thrown),
    frames: isDefect && !$metadata ? framesIn(`${stack}`.replace(message, '')) : undefined,
  };
};

/** The fields of errors of Node.js and of the SDK. */
type DescribedError = Error & { readonly code?: unknown } & Partial<Pick<SdkError, '$metadata'>>;

/** Narrows the type to one that only adds optional fields. */
const isError = (thrown: unknown): thrown is DescribedError => thrown instanceof Error;

/**
 * Returns the frames of our own code, such as `lib/pets/pet-store.ts:71`, or of the packages if none is our
 * own. Without a source map, returns places in the bundle, such as `get-pet.cjs:1:4711`. The stack must be
 * without the error's message, which can look like a frame.
 */
const framesIn = (stack: string): readonly string[] => {
  // In the bundle, which is a CommonJS module, this is the bundle's own path.
  const bundle = __filename;
  const frame = new RegExp(`^ {4}at .*?${RegExp.escape(bundle)}:(\\d+):(\\d+)\\)?$`, 'gm');
  const sources = readSourceMap(`${bundle}.map`);
  const frames = [...stack.matchAll(frame)].map(([, line, column]) => {
    const origin = sources?.findOrigin(Number(line), Number(column));
    return origin && 'fileName' in origin
      ? `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}`
      : `${basename(bundle)}:${line}:${column}`;
  });
  const own = frames.filter((each) => !each.includes('node_modules/'));
  return own.length > 0 ? own : frames;
};

let sourceMap: SourceMap | undefined;

/** Reads the source map once, when the first frame needs it. Returns `undefined` if it can't be read. */
const readSourceMap = (file: string): SourceMap | undefined => {
  try {
    sourceMap ??= new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The log line of the defect is worth more than its frames.
  }
  return sourceMap;
};
