/**
 * Returns a setting that the stack gives every function. Throws, when the module is loaded, if it is missing.
 */
export const environment = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set`);
  return value;
};
