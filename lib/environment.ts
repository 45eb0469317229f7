/**
 * Returns an environment variable that the stack or Lambda gives the function. Throws if it is missing.
 */
export const environment = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
};
