import { setTimeout } from 'node:timers/promises';
import {
  CodeDeployClient,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { fieldsOf } from '../../lib/contract/is-record.ts';
import { environment } from '../../lib/environment.ts';
import { readProbeKey } from '../../lib/self-check/probe-key.ts';
import { type CheckRequest, checkRequests } from '../../lib/self-check/requests.ts';
import { writeLine } from '../../lib/telemetry/embedded-metrics.ts';

/** The time reserved for the report before Lambda ends the invocation, in ms. */
const reportMs = 15_000;

/** For how long AWS may refuse the role of the check, which was created or changed seconds ago, in ms. */
const newRoleMs = 10_000;

/** For how long Lambda may throttle the functions, in ms: clients may use all their concurrency. */
const throttledMs = 40_000;

const pauseMs = 1_000;

const lambda = new LambdaClient();
const codedeploy = new CodeDeployClient();

/**
 * The event that CodeDeploy sends to the hook.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/tutorial-lambda-sam-create-lambda-before-traffic.html
 */
type HookEvent = Readonly<Record<'DeploymentId' | 'LifecycleEventHookExecutionId', string>>;

/**
 * Handles CodeDeploy's BeforeAllowTraffic hook. Sends check requests to the new version of every function,
 * and reports whether the version may get clients' requests. The deployment of each function checks all
 * functions, so they are released together or not at all.
 */
export const handler = async (
  event: HookEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<void> => {
  const { DeploymentId: deploymentId } = event;
  const checkMs = context.getRemainingTimeInMillis() - reportMs;
  const failures = await check(checkMs).catch((error) => [`${error}`]);
  const passed = failures.length === 0;
  writeLine({
    level: passed ? 'INFO' : 'ERROR',
    message: `The new versions ${passed ? 'passed' : 'failed'} their check`,
    deploymentId,
    failures,
  });
  const report = new PutLifecycleEventHookExecutionStatusCommand({
    deploymentId,
    lifecycleEventHookExecutionId: event.LifecycleEventHookExecutionId,
    status: passed ? 'Succeeded' : 'Failed',
  });
  await retryRefusals()(() => codedeploy.send(report));
};

/** Sends every check request, for at most `ms`. Returns a line for each wrong response. */
const check = async (ms: number): Promise<string[]> => {
  const signal = AbortSignal.timeout(ms);
  const whenAllowed = retryRefusals();
  const apiKey = await whenAllowed(() => readProbeKey(signal));
  const failures: string[] = [];
  for (const request of checkRequests(apiKey)) {
    // A wrong response gets no second chance: a version that only fails at times would fail clients, too.
    await whenAllowed(() => ask(request, signal)).catch((error: unknown) => {
      failures.push(`${request.functionName}: ${reasonOf(error)}`);
    });
  }
  return failures;
};

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');
const throttle = 'TooManyRequestsException';

/** Returns for how long calls that fail with an error are repeated, in ms. */
const patienceFor = (error: unknown): number => {
  if (nameOf(error) === throttle) return throttledMs;
  return nameOf(error) === 'AccessDeniedException' ? newRoleMs : 0;
};

const reasonOf = (error: unknown): string =>
  nameOf(error) === throttle
    ? 'Lambda throttles it. Its concurrency is used up, or somebody has set it to 0.'
    : `${error}`;

/**
 * Returns a function that repeats calls of AWS that are throttled, or that a new role is refused, until the
 * time for all of them is over.
 */
const retryRefusals = () => {
  const startedAt = performance.now();
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (performance.now() - startedAt >= patienceFor(error)) throw error;
        await setTimeout(pauseMs);
      }
    }
  };
};

/** Sends a request. Throws for a wrong response. The error leaves out what could contain the API key. */
const ask = async (request: CheckRequest, abortSignal: AbortSignal): Promise<void> => {
  const FunctionName = environment(request.functionName);
  const { FunctionError, Payload } = await lambda.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(request.event) }),
    { abortSignal },
  );
  if (FunctionError) throw new Error(`${FunctionError} error: the log of the function says why`);
  const response = fieldsOf(JSON.parse(`${Payload?.transformToString()}`));
  const { statusCode, headers: sent, body: text } = response;
  const { status, headers, hasBody } = request.response;
  if (statusCode !== status) throw new Error(`status ${statusCode} instead of ${status}`);
  for (const [name, value] of Object.entries(headers)) {
    if (fieldsOf(sent)[name] !== value) throw new Error(`header ${name} is not ${value}`);
  }
  const body = text === '' ? undefined : parseJson(`${text}`);
  if (!hasBody(body)) throw new Error(`another body with status ${status}`);
};
