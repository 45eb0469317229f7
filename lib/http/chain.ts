import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Operation } from '../operations/operation.ts';
import { bearerAuth } from './bearer-auth.ts';
import { cors } from './cors.ts';
import { deadline } from './deadline.ts';
import { errorResponses } from './error-responses.ts';
import { lifecycleHeaders, refuseAfterSunset } from './lifecycle.ts';
import { observability } from './observability.ts';
import { queryParameters } from './parameters.ts';
import type { ChainContext, OperationEvent } from './request.ts';

/**
 * Returns the Middy chain from which every function starts. It writes one log line per
 * request and handles CORS.
 */
export const chain = (functionName: string) =>
  middy<OperationEvent, APIGatewayProxyResult, unknown, ChainContext>({
    // Middy's own early timeout covers only the handler; `deadline` covers the middleware too.
    timeoutEarlyInMillis: 0,
  })
    .use(observability(functionName))
    .use(cors());

/**
 * Returns the chain of an operation of the contract. Its handler runs only for a valid
 * API key and a valid query.
 */
export const operation = <Query>(definition: Operation<Query>) =>
  chain(definition.name)
    // This middleware is outside the error responses, so that these get the lifecycle headers too.
    .use(lifecycleHeaders(definition))
    .use(errorResponses())
    .use(deadline())
    .use(bearerAuth())
    .use(refuseAfterSunset(definition))
    .use(queryParameters(definition.query));
