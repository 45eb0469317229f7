/** The region and the account that functions see locally; no request is sent to AWS. */
export const localRegion = 'eu-west-1';
export const localAccount = '000000000000';

/** Credentials for DynamoDB Local, which accepts any letters and digits as an access key id. */
export const localCredentials = { accessKeyId: 'LOCALACCESSKEYID', secretAccessKey: 'local' };

/** What a client of DynamoDB Local needs. */
export const localClientConfig = (endpoint: string) => ({
  endpoint,
  region: localRegion,
  credentials: localCredentials,
});
