/**
 * Returns an environment variable that the stack or Lambda gives the function. Throws if it is missing.
 */
export const environment = (name: string): string => {
  const value = optionalEnvironment(name);
  if (value === undefined) throw new Error(`The environment variable ${name} is not set`);
  return value;
};

/** Returns an environment variable that a function need not have. An empty one is as good as none. */
export const optionalEnvironment = (name: string): string | undefined =>
  process.env[name] || undefined;
