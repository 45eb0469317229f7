import { stageNamed } from '../settings/stages.ts';

/** The stage that runs locally: a personal one, which has no alarms and no functions that check it. */
export const localStage = stageNamed('dev-local');

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
});
