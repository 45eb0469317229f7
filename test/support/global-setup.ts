import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { withAssembly } from '../../infra/build/with-assembly.ts';
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { limitsText } from '../../infra/settings/limits-text.ts';
import { staging } from '../../infra/settings/stages.ts';
import { openapiText } from '../../lib/openapi/document.ts';
import { contractText } from './openapi-document.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the acceptance tests send their requests, and with which key. */
    baseAddress: string;
    apiKey: string;
    /**
     * The reference page, with the API key; absent when the acceptance tests run against a deployed stage.
     */
    docsAddress?: string;
    /**
     * DynamoDB Local, and the tables of the template; absent when the acceptance tests run
     * against a deployed stage.
     */
    dynamodb?: Pick<LocalService, 'dynamodbEndpoint' | 'tables'>;
    /**
     * The folder of the synthesised stacks; absent when the acceptance tests run against a deployed stage.
     */
    assembly?: string;
  }
}

/**
 * Synthesises every stack once for all tests and starts the local service from it, or points the acceptance
 * tests at the service that BASE_URL and API_KEY name. Throws if openapi.json is stale, because many tests
 * would then fail that do not say so.
 */
export default async function setup(project: TestProject) {
  const { BASE_URL: baseAddress, API_KEY: apiKey = '' } = process.env;
  if (baseAddress) {
    project.provide('baseAddress', baseAddress);
    project.provide('apiKey', apiKey);
    return undefined;
  }
  if (contractText !== openapiText(limitsText())) {
    throw new Error('lib/contract/openapi.json is not what the code says: run npm run openapi');
  }
  const assembly = await mkdtemp(join(tmpdir(), 'animal-store-assembly-'));
  const readStaging = () => readStack(assembly, staging);
  const service = await startLocalService({ stack: withAssembly(readStaging, { assembly }) });
  project.provide('baseAddress', service.baseAddress);
  project.provide('apiKey', service.apiKey);
  project.provide('docsAddress', service.docsAddress);
  const { dynamodbEndpoint, tables } = service;
  project.provide('dynamodb', { dynamodbEndpoint, tables });
  project.provide('assembly', assembly);
  return async () => {
    await service.stop();
    await rm(assembly, { recursive: true });
  };
}
