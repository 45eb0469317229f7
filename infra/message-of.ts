/** Returns the message of an error for an operator: a sentence without a stack trace. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `${error}`;
  if (error.name !== 'CredentialsProviderError') return error.message;
  return `There are no credentials of AWS, set AWS_PROFILE: ${error.message}`;
};

/** Prints one line about an error, and makes the command end with exit code 1. */
export const fail = (error: unknown): void => {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
};
