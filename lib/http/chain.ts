import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { OperationContext, OperationEvent } from './operation-request.ts';

/** An empty Middy chain, typed for the requests of this service. */
export const chain = () =>
  middy<OperationEvent, APIGatewayProxyResult, unknown, OperationContext>({
    // Middy's own early timeout leaves out the middleware; `deadline` bounds the whole invocation.
    timeoutEarlyInMillis: 0,
  });
