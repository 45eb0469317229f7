import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { FunctionName } from '../../../lib/contract/routes.ts';
import type { DeployedStage } from '../open-stage.ts';
import { call, type Step } from '../plan.ts';
import { deployedApi } from './deployed-api.ts';

/**
 * Plans the reserved concurrency of a function, or of all functions of the API, which is also their limit: by
 * default what the stage declares.
 */
export const reserve = async (
  opened: DeployedStage,
  name: FunctionName | 'all',
  number?: number,
): Promise<Step[]> => {
  const { reservedConcurrency } = opened.stage;
  const lambda = opened.clients.lambda();
  const { apiFunctions, functionOf } = await deployedApi(opened);
  const functions = name === 'all' ? apiFunctions() : [functionOf(name)];
  const steps: Step[] = [];
  for (const FunctionName of functions) {
    const isFallback = FunctionName === functionOf('fallback');
    const declared = reservedConcurrency?.[isFallback ? 'fallback' : 'eachOperation'];
    const wanted = number ?? declared;
    const get = new GetFunctionConcurrencyCommand({ FunctionName });
    const { ReservedConcurrentExecutions: present } = await lambda.send(get);
    if (wanted === present) continue;
    steps.push(
      wanted === undefined
        ? call(lambda, new DeleteFunctionConcurrencyCommand({ FunctionName }))
        : call(lambda, put(FunctionName, wanted)),
    );
  }
  return steps;
};

const put = (FunctionName: string, ReservedConcurrentExecutions: number) =>
  new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions });
