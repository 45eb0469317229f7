import { inject, type ProvidedContext } from 'vitest';

/**
 * Returns what `global-setup.ts` made for all tests of a run. Throws an error that says how to run Vitest if
 * it is missing.
 */
export const shared = <Key extends keyof ProvidedContext & string>(
  key: Key,
): NonNullable<ProvidedContext[Key]> => {
  const value = inject(key);
  if (value !== undefined) return value;
  // Vite sets the variable BASE_URL of a test to its own base path.
  throw new Error(
    inject('baseAddress') === undefined
      ? 'Vitest did not start the service: give it --config test/vitest.config.ts'
      : 'This test needs the service on this machine: unset BASE_URL',
  );
};
