import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { json, type Responses, stackIn, startAwsEndpoint } from '../support/aws-endpoint.ts';
import { findProgram } from '../support/find-program.ts';

const missing = ['aws', 'jq'].filter((name) => !findProgram([name]));
if (missing.length > 0) console.log(`LEFT OUT: .ci/call-probe, which needs ${missing.join()}.`);

describe.skipIf(missing.length > 0)('the call of the probe at the end of a release', async () => {
  const aws = await startAwsEndpoint();

  /** Calls the probe of prod, and returns what was printed. */
  const callProbe = async (
    outputs: Readonly<Record<string, string>>,
    responses: Responses = {},
  ) => {
    const DescribeStacks = stackIn('UPDATE_COMPLETE', outputs, { PreviousCommit: 'c41' });
    aws.responses = { DescribeStacks, ...responses };
    const script = spawn(join(projectDirectory, '.ci', 'call-probe'), ['prod'], {
      // Version 1 of AWS's CLI reads AWS_REGION nowhere.
      env: { ...process.env, ...aws.variables, AWS_DEFAULT_REGION: 'eu-west-1' },
    });
    const [out, error, [exitCode]] = await Promise.all([
      text(script.stdout),
      text(script.stderr),
      once(script, 'close'),
    ]);
    return { out, error, exitCode };
  };

  const BaseAddress = 'https://api.store.test/v1';
  const outputs = { BaseAddress, ProbeFunction: 'probe-1' };
  // https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
  const invoke = 'POST /2015-03-31/functions/probe-1/invocations';

  it('succeeds when the probe does, and gives out the base address', async () => {
    const { out, exitCode } = await callProbe(outputs, { [invoke]: json({ ProbeSuccess: 1 }) });
    expect([out, exitCode]).toEqual([`base-address=${BaseAddress}\n`, 0]);
  });

  it.each([
    ['a wrong response', json({ ProbeSuccess: 0, failure: 'status 503' }), 'status 503'],
    ['an error of the function', json({ errorMessage: 'Task timed out' }), 'Task timed out'],
    ['a refusal by Lambda', json({ message: 'Rate exceeded' }, 403), ''],
  ])('fails after %s, and says how to go back', async (_what, response, reason) => {
    const { error, exitCode } = await callProbe(outputs, { [invoke]: response });
    expect(exitCode).toBe(1);
    expect(error).toContain(reason);
    expect(error).toContain(
      'git switch --detach c41 && npm ci && npm run deploy -- --stage prod --revert',
    );
  });

  it('is left out for a stage without a probe', async () => {
    const { out, exitCode } = await callProbe({ BaseAddress });
    expect([out, exitCode]).toEqual([`base-address=${BaseAddress}\n`, 0]);
  });
});
