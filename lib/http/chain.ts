import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { cors } from './cors.ts';
import { observability } from './observability.ts';
import type { ChainContext, OperationEvent } from './operation-request.ts';

/** The Middy chain that every function starts from: one log line per request, and CORS. */
export const chain = (operationName: string) =>
  middy<OperationEvent, APIGatewayProxyResult, unknown, ChainContext>({
    // Middy's own early timeout covers only the handler; `deadline` covers the middleware too.
    timeoutEarlyInMillis: 0,
  })
    .use(observability(operationName))
    .use(cors());
