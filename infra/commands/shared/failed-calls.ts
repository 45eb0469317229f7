/** The call of AWS, such as `DynamoDB ListBackups`, that ended with an error. */
const failedCalls = new WeakMap<Error, string>();

/** Returns the call of AWS that ended with an error, or `undefined` for any other error. */
export const failedCallOf = (error: Error): string | undefined => failedCalls.get(error);

interface FailedCall {
  readonly clientName: string;
  readonly commandName: string;
  readonly error: unknown;
}

const ignore = () => {};

/**
 * The logger of each client of AWS. It prints nothing, and remembers which call failed, because the message
 * of an error seldom says so. It ignores the input of the call, which may contain a secret.
 */
export const failureLogger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ({ clientName, commandName, error }: FailedCall): void => {
    // The call that gets the credentials for another one fails first.
    if (!(error instanceof Error) || failedCalls.has(error)) return;
    const call = `${clientName.replace(/Client$/, '')} ${commandName.replace(/Command$/, '')}`;
    failedCalls.set(error, call);
  },
};
