import { globalAgent } from 'node:https';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import type { Stage } from '../../settings/stages.ts';
import { failureLogger } from './failed-calls.ts';

/**
 * What each client of a command has, also one of DynamoDB Local: a name for the call that fails, the agent of
 * Node.js, which uses a company's proxy, and in ms the time that a connection may take, and the time without
 * a byte after which a call is given up. The SDK begins to measure the second one 3 s after the request, so a
 * call without an answer takes 15 s, and it repeats such a call. Its `requestTimeout` would end with the
 * headers of a response, and so miss a body that stops.
 */
export const callSettings = {
  requestHandler: { connectionTimeout: 5_000, socketTimeout: 12_000, httpsAgent: globalAgent },
  logger: failureLogger,
};

/**
 * Returns the configuration of every client of AWS that a command uses, with the region of a stage, if it has
 * one. Keys that are exported come before a profile, as for the AWS CLI and the CDK.
 */
export const awsConfig = ({ env }: Pick<Stage, 'env'>) => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  const areKeysExported = AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY;
  return {
    ...callSettings,
    ...(areKeysExported && { credentials: fromEnv() }),
    ...(env && { region: env.region }),
  };
};
