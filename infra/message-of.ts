/** What to tell an operator about an error: a sentence without its stack. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `${error}`;
  if (error.name !== 'CredentialsProviderError') return error.message;
  return `There are no credentials of AWS, set AWS_PROFILE: ${error.message}`;
};

/** Ends a command with exit code 1 and one line about an error. */
export const fail = (error: unknown): void => {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
};
