import middy from '@middy/core';
import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Operation } from '../operations/operation.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { ChainContext, OperationEvent } from './chain-types.ts';
import { cors } from './cors.ts';
import { deadline } from './deadline.ts';
import { errorResponses } from './error-responses.ts';
import type { BodyParser } from './json-body.ts';
import { lifecycleHeaders, refuseAfterSunset } from './lifecycle.ts';
import { observability } from './observability.ts';
import { headersAndPath, queryParameters } from './parameters.ts';

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
 * Returns the chain of an operation of the contract. Its handler runs only for a valid API key and a valid
 * input, and gets that as `event.input`, as the definition declares it. An operation with a body gives a
 * parser for it, which is not part of every bundle.
 */
export const operationChain = <Path, Query, Headers, Body = unknown>(
  definition: Operation<Path, Query, Headers>,
  bodyParser: BodyParser<Body> = [],
) =>
  chain(definition.name)
    // This middleware is outside the error responses, so that these get the lifecycle headers too.
    .use(lifecycleHeaders(definition))
    .use(errorResponses())
    .use(deadline())
    .use(bearerAuth())
    .use(refuseAfterSunset(definition))
    .use(queryParameters(definition.input.query))
    .use(bodyParser)
    .use(headersAndPath(definition.input));
