import {
  type BuildOptions,
  type BuildResult,
  context,
  type OutputFile,
  type Plugin,
} from 'esbuild';

export interface SourceOptions<Result> {
  /** The name of what is built, for messages. */
  readonly what: string;
  /** What esbuild builds. It writes nothing. */
  readonly build: BuildOptions;
  /** Whether to build again after each change of a source. */
  readonly watch: boolean;
  /** Puts the files of a build into service. */
  readonly use: (files: readonly OutputFile[]) => Promise<Result>;
  /** Called with a line when a source has changed, and with a line about the outcome. */
  readonly progress: (line: string) => void;
}

/**
 * Builds sources and uses the files, again after each change, until the resources are disposed of. Returns
 * the result of the first use. If the first build fails, throws an error that names the mistake and its
 * place.
 */
export const buildSources = async <Result>(
  { what, build, watch, use, progress }: SourceOptions<Result>,
  resources: AsyncDisposableStack,
): Promise<Result> => {
  const first = Promise.withResolvers<Result>();
  let isFirst = true;
  const useAgain = async (result: BuildResult) => {
    try {
      await use(filesOf(result));
      progress(`Reloaded the ${what}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
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
        if (!isFirst) return useAgain(result);
        isFirst = false;
        first.resolve((async () => use(filesOf(result)))());
        await first.promise.catch(() => {});
      });
    },
  };
  const plugins = [...(build.plugins ?? []), report];
  const sources = await context({ ...build, plugins, write: false, logLevel: 'silent' });
  // Not awaited: esbuild waits for a use that is under way, which can take seconds.
  resources.defer(() => void sources.dispose());
  // A failed build is in the result, too.
  await (watch ? sources.watch() : sources.rebuild().catch(() => {}));
  return first.promise;
};

const filesOf = ({ errors: [mistake], outputFiles = [] }: BuildResult): readonly OutputFile[] => {
  if (!mistake) return outputFiles;
  const { text, location } = mistake;
  throw new Error(
    location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
  );
};
