import type { Operation } from '../operations/operation.ts';
import { bearerAuth } from './bearer-auth.ts';
import { chain } from './chain.ts';
import { deadline } from './deadline.ts';
import { errorResponses } from './error-responses.ts';
import { lifecycleHeaders, refuseAfterSunset } from './lifecycle.ts';
import { query } from './query.ts';

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
    .use(query(definition.query));
