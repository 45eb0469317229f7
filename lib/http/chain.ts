import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { cors } from './cors.ts';
import { observability } from './observability.ts';
import type { OperationContext, OperationEvent } from './operation-request.ts';

/** The Middy chain that every function starts from: it logs and measures what later becomes of a request, and lets web pages read it. */
export const chain = (operationName: string) =>
  middy<OperationEvent, APIGatewayProxyResult, unknown, OperationContext>({
    // Middy's own early timeout leaves out the middleware; `deadline` bounds the whole invocation.
    timeoutEarlyInMillis: 0,
  })
    .use(observability(operationName))
    .use(cors());
