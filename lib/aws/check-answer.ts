import type { MiddlewareStack } from '@smithy/types';

/** Makes an attempt of a command fail, and so be repeated, when `check` throws for its answer. */
export const checkAnswer = <Input extends object, Output extends object>(
  { middlewareStack }: { readonly middlewareStack: MiddlewareStack<Input, Output> },
  check: (output: Output) => void,
): void => {
  middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      check(result.output);
      return result;
    },
    // The document client adds a command's middleware twice.
    { name: 'checkAnswer', step: 'finalizeRequest', priority: 'low', override: true },
  );
};
