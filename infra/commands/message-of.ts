import { printable } from './printable.ts';

/** Says where the credentials of AWS were looked for. */
const credentialsTried = (): string => {
  const { AWS_PROFILE } = process.env;
  return AWS_PROFILE
    ? `The profile ${AWS_PROFILE} (AWS_PROFILE) has no credentials of AWS that can be loaded`
    : 'There are no credentials of AWS in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in the profile default: set AWS_PROFILE';
};

/** Returns the message of an error for an operator: a sentence without a stack trace. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `${error}`;
  if (error.message === 'Region is missing')
    return 'There is no region of AWS: set AWS_REGION, or AWS_PROFILE to a profile with a region';
  if (error.name !== 'CredentialsProviderError') return error.message;
  return `${credentialsTried()}. ${error.message}`;
};

/**
 * Prints a printable line about an error, or about each error of an AggregateError, and makes the command
 * end with exit code 1.
 */
export const fail = (error: unknown): void => {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  for (const each of errors) console.error(`error: ${printable(messageOf(each))}`);
  process.exitCode = 1;
};
