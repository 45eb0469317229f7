import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { call, type Step } from '../plan.ts';
import type { OperatedStage } from './operated-stage.ts';

/** Plans the reserved concurrency of functions, which is also their limit: by default what the stage declares. */
export const reserve = async (
  { lambda, functionOf, stage: { reservedConcurrency } }: OperatedStage,
  functions: readonly string[],
  number?: number,
): Promise<Step[]> => {
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
