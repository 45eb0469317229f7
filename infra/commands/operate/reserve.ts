import {
  DeleteFunctionConcurrencyCommand,
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import { unreservedConcurrency } from '../preflight.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';

/**
 * Plans the reserved concurrency of functions, which is also their limit: by default what the stage declares.
 * Throws if too little of the account's concurrency would remain.
 */
export const reserve = async (
  { lambda, functionOf, stage: { reservedConcurrency } }: OperatedStage,
  functions: readonly string[],
  number?: number,
): Promise<Step[]> => {
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand());
  const before = AccountLimit?.UnreservedConcurrentExecutions ?? 0;
  let unreserved = before;
  const steps: Step[] = [];
  for (const FunctionName of functions) {
    const isFallback = FunctionName === functionOf('fallback');
    const declared = reservedConcurrency?.[isFallback ? 'fallback' : 'eachOperation'];
    const wanted = number ?? declared;
    const get = new GetFunctionConcurrencyCommand({ FunctionName });
    const { ReservedConcurrentExecutions: present } = await lambda.send(get);
    if (wanted === present) continue;
    unreserved += (present ?? 0) - (wanted ?? 0);
    steps.push(
      wanted === undefined
        ? call(lambda, new DeleteFunctionConcurrencyCommand({ FunctionName }))
        : call(lambda, put(FunctionName, wanted)),
    );
  }
  if (unreserved < Math.min(before, unreservedConcurrency))
    throw new Error(
      `This would leave ${unreserved} of the account's concurrency unreserved, and Lambda requires ${unreservedConcurrency}: request a higher quota`,
    );
  return steps;
};

const put = (FunctionName: string, ReservedConcurrentExecutions: number) =>
  new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions });
