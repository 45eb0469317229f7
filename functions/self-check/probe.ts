import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { ownUserAgent } from '../../lib/contract/own-user-agent.ts';
import { Pet } from '../../lib/contract/pet.ts';
import { environment } from '../../lib/environment.ts';
import { readProbeKey } from '../../lib/self-check/probe-key.ts';
import { metricDirective, metricsField, writeLine } from '../../lib/telemetry/embedded-metrics.ts';
import { probeMetricName } from '../../lib/telemetry/metric-names.ts';

/** The time reserved for the result before Lambda ends the invocation, in ms. */
const resultMs = 1_000;

const PageOfOne = v.pipe(v.array(Pet), v.maxLength(1));

/** The API key, which is kept until the service refuses it. */
let apiKey: string | undefined;

/** Requests one pet from the public address, as a client does, and logs the result. A failure is a result, too. */
export const handler = async (
  _event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<void> => {
  try {
    await probe(AbortSignal.timeout(context.getRemainingTimeInMillis() - resultMs));
    logResult();
  } catch (error) {
    logResult(reasonOf(error));
  }
};

/** Throws unless the response is correct. */
const probe = async (signal: AbortSignal): Promise<void> => {
  const isKept = apiKey !== undefined;
  apiKey ??= await readProbeKey(signal);
  const response = await fetch(`${environment('BASE_ADDRESS')}/pets?limit=1`, {
    headers: { Authorization: `Bearer ${apiKey}`, 'User-Agent': ownUserAgent },
    redirect: 'error',
    signal,
  });
  const body = await response.text();
  if (response.status === 401) {
    apiKey = undefined;
    // The key may have been rotated.
    if (isKept) return probe(signal);
  }
  if (response.status !== 200) throw new Error(`status ${response.status} instead of 200`);
  if (!v.is(PageOfOne, parseJson(body))) throw new Error('the body is not a page of one pet');
};

/** Returns the text of an error with its `cause`, in which `fetch` stores the reason. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause ? `${error} (${error.cause})` : `${error}`;

const logResult = (failure?: string): void => {
  const line = {
    level: failure === undefined ? 'INFO' : 'ERROR',
    message: failure === undefined ? 'The probe succeeded' : 'The probe failed',
    failure,
    service: environment('SERVICE_NAME'),
    [probeMetricName]: failure === undefined ? 1 : 0,
  };
  const _aws = metricsField([metricDirective(['service'], [probeMetricName])]);
  writeLine({ ...line, _aws });
};
