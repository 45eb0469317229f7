import type { TestProject } from 'vitest/node';
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the acceptance tests send their requests, and with which key. */
    baseAddress: string;
    apiKey: string;
    /** DynamoDB Local, and the tables of the template; absent when the acceptance tests run against a deployed stage. */
    dynamodb: Pick<LocalService, 'dynamodbEndpoint' | 'tables'> | undefined;
  }
}

/** Starts the local service, or points the acceptance tests at the one that BASE_URL and API_KEY name. */
export default async function setup(project: TestProject) {
  const { BASE_URL: baseAddress, API_KEY: apiKey } = process.env;
  if (baseAddress) {
    if (!apiKey) throw new Error('BASE_URL is set; set API_KEY to a key of that stage as well');
    project.provide('baseAddress', baseAddress);
    project.provide('apiKey', apiKey);
    project.provide('dynamodb', undefined);
    return undefined;
  }
  const service = await startLocalService({ port: 0 });
  project.provide('baseAddress', service.baseAddress);
  project.provide('apiKey', service.apiKey);
  const { dynamodbEndpoint, tables } = service;
  project.provide('dynamodb', { dynamodbEndpoint, tables });
  return service.stop;
}
