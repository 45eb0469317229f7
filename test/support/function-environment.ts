import { nodeMajorVersion } from '../../infra/settings/node-version.ts';
import { tables } from '../../infra/settings/tables.ts';

/**
 * Returns the environment in which tests start a function, with an endpoint for DynamoDB: what Lambda sets,
 * and what the stack sets.
 */
export const functionEnvironment = (dynamodbEndpoint: string): Record<string, string> => ({
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'ASIASTANDIN',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'token',
  AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajorVersion}.x`,
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  TZ: ':UTC',
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
  SERVICE_NAME: 'animal-store',
  ...Object.fromEntries(Object.values(tables).map(({ id, variable }) => [variable, id])),
  API_KEY_PREFIX: 'pets_test',
});
