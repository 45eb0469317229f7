import {
  type BuildOptions,
  type BuildResult,
  context,
  type OutputFile,
  type Plugin,
} from 'esbuild';

export interface SourceWatchOptions {
  /** The name of what is built, for messages. */
  readonly what: string;
  /** What esbuild builds. It writes nothing. */
  readonly build: BuildOptions;
  /** Whether to build again after each change of a source. */
  readonly watch: boolean;
  /** Puts the files of a later build into service. */
  readonly replace: (files: readonly OutputFile[]) => Promise<unknown>;
  /** Called with a line when a source has changed, and with a line about the outcome. */
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Builds sources, and builds them again after each change, until the resources are disposed of. Returns the
 * files of the first build. If that fails, throws an error whose message names the mistake and its place.
 */
export const watchSources = async (
  { what, build, watch, replace, progress, signal }: SourceWatchOptions,
  resources: AsyncDisposableStack,
): Promise<readonly OutputFile[]> => {
  const first = Promise.withResolvers<BuildResult>();
  let isFirst = true;
  const reload = async (result: BuildResult) => {
    try {
      await replace(filesOf(result));
      progress(`Reloaded the ${what}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      if (!signal.aborted)
        progress(`Not reloaded the ${what}, what ran before stays in service: ${reason}`);
    }
  };
  const report: Plugin = {
    name: 'report',
    setup: ({ onStart, onEnd }) => {
      onStart(() => {
        if (!isFirst) progress(`Reloading the ${what}…`);
      });
      onEnd(async (result) => {
        if (!isFirst) await reload(result);
        isFirst = false;
        first.resolve(result);
      });
    },
  };
  const plugins = [...(build.plugins ?? []), report];
  const sources = await context({ ...build, plugins, write: false, logLevel: 'silent' });
  resources.defer(() => sources.dispose());
  // A failed build is in the result, too.
  await (watch ? sources.watch() : sources.rebuild().catch(() => {}));
  return filesOf(await first.promise);
};

const filesOf = ({ errors: [mistake], outputFiles = [] }: BuildResult): readonly OutputFile[] => {
  if (!mistake) return outputFiles;
  const { text, location } = mistake;
  throw new Error(
    location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
  );
};
