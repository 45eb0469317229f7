import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { LocalFunction } from '../../infra/local/lambda/local-function.ts';
import { probeKeyParameter, serviceName } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { json, jsonError, startAwsEndpoint } from '../support/aws-endpoint.ts';
import { readMetrics } from '../support/embedded-metric-format.ts';
import { type Fault, FaultProxy, faults, stalls } from '../support/fault-proxy.ts';
import { shared } from '../support/shared.ts';

const parameter = probeKeyParameter(staging);
const apiKey = shared('apiKey');
const { origin, pathname } = new URL(shared('baseAddress'));
const request = `GET ${pathname}/pets`;
const goodPage = { Location: `${pathname}/pets?limit=1` };
const service = new FaultProxy(origin);
const aws = await startAwsEndpoint();
const log: string[] = [];
const printed = new EventEmitter();
// On a busy machine, the start of a function would take much of the probe's time limit.
await (await fetch(`${origin}${pathname}/pets`)).text();
const address = await service.listen();
const probe = new LocalFunction({
  definition: {
    functionName: 'probe',
    bundleName: 'probe',
    timeoutMs: 6_000,
    memoryMiB: 256,
    environment: {
      BASE_ADDRESS: `${address}${pathname}`,
      PROBE_KEY_PARAMETER: parameter,
      SERVICE_NAME: serviceName(staging),
    },
  },
  directory: bundleDirectory('probe'),
  environment: aws.variables,
  log: (line) => {
    log.push(line);
    printed.emit('line', line);
  },
});

afterEach(() => {
  service.reset();
  expect(log.join('\n')).not.toMatch(/pets_(test|live)_/);
  log.length = 0;
});

afterAll(async () => {
  await probe.stop();
  await service.refuseConnections();
});

/** Invokes the probe as it is invoked each minute. Returns what it writes. */
const run = async () => {
  const [[text]] = await Promise.all([
    once(printed, 'line'),
    probe.invoke({ requestId: '1', traceId: 'Root=1', event: {} }),
  ]);
  const line = JSON.parse(text);
  const [metrics, ...others] = readMetrics(line);
  expect(others).toEqual([]);
  expect(metrics).toMatchObject({
    namespace: 'AnimalStore',
    dimensions: [{ service: 'animal-store-staging' }],
  });
  return { ...metrics, failure: line.failure };
};

/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html */
const setKey = (Value?: string) => {
  aws.responses = {
    GetParameter: (body) => {
      expect(JSON.parse(body)).toEqual({ Name: parameter, WithDecryption: true });
      return Value === undefined ? jsonError('ParameterNotFound') : json({ Parameter: { Value } });
    },
  };
};

/** Returns a fault that responds with this JSON. */
const respondJson =
  (body: string, status = 200): Fault =>
  ({ response }) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);

const failed = { ProbeSuccess: [0] };

describe('the probe', () => {
  beforeEach(() => setKey(apiKey));

  it('fails without a key, and says how to issue one', async () => {
    setKey();
    const { values, failure } = await run();
    expect(values).toEqual(failed);
    expect(failure).toContain('run npm run keys -- issue --for-probe --stage staging');
  });

  it('records a failure if its key never comes', async () => {
    aws.responses = { GetParameter: () => new Promise(() => {}) };
    expect((await run()).values).toEqual(failed);
  });

  it('records a good response, and reads its key once', async () => {
    expect((await run()).values).toEqual({ ProbeSuccess: [1] });
    const reads = aws.requests.length;
    expect((await run()).values).toMatchObject({ ProbeSuccess: [1] });
    expect(aws.requests).toHaveLength(reads);
    expect(service.requests).toEqual([request, request]);
  });

  it.each<[string, Fault]>([
    ['a lost connection', faults.resetBeforeForwarding],
    ['half a body', faults.halfABody],
    ['a page with status 206', respondJson('[]', 206)],
    ['a pet without fields', respondJson('[{}]')],
    ['a redirect to a good page', ({ response }) => void response.writeHead(302, goodPage).end()],
    ['a response that never comes', stalls.hang],
  ])('records a failure for %s', async (_what, fault) => {
    service.inject(request, fault, 1);
    const { values, failure } = await run();
    expect(values).toEqual(failed);
    expect(failure).toMatch(/^\w+: ./);
  });

  it('reads its key again after a 401, as it may have been rotated', async () => {
    service.inject(request, ({ response }) => void response.writeHead(401).end(), 1);
    const reads = aws.requests.length;
    expect((await run()).values).toMatchObject({ ProbeSuccess: [1] });
    expect(aws.requests.length).toBe(reads + 1);
    setKey(generateApiKey('pets_test'));
    service.inject(request, ({ response }) => void response.writeHead(401).end(), 1);
    expect((await run()).failure).toContain('status 401 instead of 200');
  });

  it('never writes a key that can not be sent', async () => {
    setKey(`${generateApiKey('pets_test')}\n\u0000`);
    expect((await run()).values).toEqual(failed);
  });
});
