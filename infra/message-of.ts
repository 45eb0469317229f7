/** What to tell an operator about an error: a sentence without its stack. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `${error}`;
  if (error.name !== 'CredentialsProviderError') return error.message;
  return `There are no credentials of AWS, set AWS_PROFILE: ${error.message}`;
};
