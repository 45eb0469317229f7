// A function loads this file when it starts, also while a source is broken. So it imports none.

/** The region that functions see locally, next to the account. No request is sent to AWS. */
export const localRegion = 'eu-west-1';
export const localAccount = '000000000000';

/** Credentials for DynamoDB Local, which accepts any letters and digits as an access key id. */
export const localCredentials = { accessKeyId: 'LOCALACCESSKEYID', secretAccessKey: 'local' };

/** Returns the configuration for an SDK client of DynamoDB Local. */
export const localClientConfig = (endpoint: string) => ({
  endpoint,
  region: localRegion,
  credentials: localCredentials,
  // Instead of what a user has set for AWS: the SDK fails with the first two and an endpoint, and with a
  // wrong mode.
  useFipsEndpoint: false,
  useDualstackEndpoint: false,
  defaultsMode: 'legacy' as const,
});
