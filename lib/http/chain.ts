import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { cors } from './cors.ts';
import { observability } from './observability.ts';
import type { ChainContext, OperationEvent } from './operation-request.ts';

/**
 * Returns the Middy chain from which every function starts. It writes one log line per
 * request and handles CORS.
 */
export const chain = (operationName: string) =>
  middy<OperationEvent, APIGatewayProxyResult, unknown, ChainContext>({
    // Middy's own early timeout covers only the handler; `deadline` covers the middleware too.
    timeoutEarlyInMillis: 0,
  })
    .use(observability(operationName))
    .use(cors());
