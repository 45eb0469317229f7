import type { MiddlewareStack } from '@smithy/types';

/** Makes an attempt of a command fail when `check` throws for its answer, so that the SDK retries it. */
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
