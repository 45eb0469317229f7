import { cp, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import * as v from 'valibot';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { FunctionError, LocalFunction } from '../../infra/local/lambda/local-function.ts';
import { type FunctionDefinition, functionsOf } from '../../infra/local/stack-definition.ts';
import { parseTemplate, Ref, resourcesOf } from '../../infra/local/template.ts';
import { probeKeyParameter } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { definition as getPet } from '../../lib/operations/get-pet.ts';
import {
  type AwsResponse,
  json,
  jsonError,
  type Responses,
  startAwsEndpoint,
} from '../support/aws-endpoint.ts';
import { FaultProxy, faults, respondWith } from '../support/fault-proxy.ts';
import { listen } from '../support/listen.ts';
import { shared } from '../support/shared.ts';
import { deployedTemplate, idOf } from '../support/templates.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const template = parseTemplate(JSON.stringify(deployedTemplate(staging).toJSON()));
const tables = [...resourcesOf(template, 'AWS::DynamoDB::Table', v.object({})).keys()];
const tableOf = (start: string) => `${tables.find((id) => id.startsWith(start))}`;
/** The hook finds them in its environment, where the template has references to versions. */
const versions = resourcesOf(template, 'AWS::Lambda::Version', v.object({ FunctionName: Ref }));
const hook = idOf(deployedTemplate(staging), 'AWS::Lambda::Function', 'Canarybeforetraffic');
const checked = versions.values().map(({ FunctionName }) => FunctionName.Ref);
/** The functions of the API, and the hook. */
const definitions = functionsOf(template, new Set([...checked, hook]))
  .values()
  .toArray();

/** A change of what is deployed instead of what was built. */
interface Change {
  readonly bundleName: string;
  /** An environment variable that is missing. */
  readonly without?: string;
  /** The source of a bundle in place of the built one, which it can load as `./built.cjs`. */
  readonly source?: string;
  /** The time after which Lambda ends an invocation, in ms. */
  readonly timeoutMs?: number;
}

/** How many of the next invocations Lambda throttles. */
let throttles = 0;

/**
 * Serves Lambda's Invoke for versions, each by the name that the caller uses.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
const startLambdaEndpoint = async (
  versions: ReadonlyMap<string, Pick<LocalFunction, 'invoke'>>,
) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const [, arn = ''] =
      /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(`${request.url}`) ?? [];
    const version = versions.get(decodeURIComponent(arn));
    const event = await readJson(request);
    if (throttles > 0) {
      throttles -= 1;
      response.writeHead(429, { 'X-Amzn-ErrorType': 'TooManyRequestsException' });
      response.end(JSON.stringify({ message: 'Rate Exceeded.', Type: 'User' }));
      return;
    }
    try {
      if (!version) throw new Error(`There is no version ${arn}`);
      response.end(await version.invoke({ requestId: '1', traceId: 'Root=1', event }));
    } catch (error) {
      if (!(error instanceof FunctionError)) return void response.writeHead(500).end(`${error}`);
      response.writeHead(200, { 'X-Amz-Function-Error': 'Unhandled' });
      response.end(JSON.stringify({ errorType: 'Error', errorMessage: error.message }));
    }
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => server.close() };
};

const deployed = new Map<string, LocalFunction>();
const aws = await startAwsEndpoint();
const lambda = await startLambdaEndpoint(deployed);
const reports: unknown[] = [];
const root = await temporaryFolder(afterAll);
const log: string[] = [];
const apiKey = shared('apiKey');
const local = shared('dynamodb');
const proxy = new FaultProxy(local.dynamodbEndpoint);
const environment = {
  ...aws.variables,
  AWS_ENDPOINT_URL_LAMBDA: lambda.url,
  AWS_ENDPOINT_URL_DYNAMODB: await proxy.listen(),
};

const start = (
  definition: FunctionDefinition,
  directory = bundleDirectory(definition.bundleName),
) => new LocalFunction({ definition, directory, environment, log: (line) => log.push(line) });

const asBuilt = new Map(
  definitions.map((definition) => [definition.bundleName, start(definition)]),
);

afterAll(async () => {
  await Promise.all(asBuilt.values().map((one) => one.stop()));
  lambda.stop();
  await proxy.refuseConnections();
});

afterEach(() => {
  proxy.reset();
  expect(log.join('\n')).not.toContain(apiKey);
  // The stage's own requests are no calls of a client.
  expect(log.join('\n')).not.toContain('DeprecatedCalls');
  log.length = 0;
});

const startChanged = async ({ bundleName, source, without, ...limit }: Change) => {
  const directory = await mkdtemp(join(root, bundleName));
  await cp(bundleDirectory(bundleName), directory, { recursive: true });
  const file = join(directory, `${bundleName}.cjs`);
  if (source) {
    await rename(file, join(directory, 'built.cjs'));
    await writeFile(file, source);
  }
  const definition = definitions.find((each) => each.bundleName === bundleName);
  if (!definition) throw new Error(`The template has no ${bundleName}`);
  const variables = Object.entries(definition.environment).filter(([name]) => name !== without);
  const environment = Object.fromEntries(variables);
  return start({ ...definition, ...limit, environment }, directory);
};

/** Returns what the hook reports of a release, and the failures that it logs. */
const check = async (...changes: readonly Change[]) => {
  const running = new Map(asBuilt);
  for (const change of changes) running.set(change.bundleName, await startChanged(change));
  for (const [version, { FunctionName }] of versions) {
    const checked = definitions.find(({ functionName }) => functionName === FunctionName.Ref);
    const lambda = running.get(`${checked?.bundleName}`);
    if (lambda) deployed.set(version, lambda);
  }
  const event = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' };
  const before = log.length;
  await running.get('before-traffic')?.invoke({ requestId: '1', traceId: 'Root=1', event });
  const line = await vi.waitUntil(() => log.slice(before).find((each) => each.includes('"d-1"')));
  await Promise.all(changes.map(({ bundleName }) => running.get(bundleName)?.stop()));
  const failures: string[] = JSON.parse(line).failures;
  return { reports: reports.splice(0), failures };
};

const succeeded = {
  reports: [{ deploymentId: 'd-1', lifecycleEventHookExecutionId: 'hook-1', status: 'Succeeded' }],
  failures: [],
};
const failed = [{ ...succeeded.reports[0], status: 'Failed' }];

/** Returns the responses of SSM and of CodeDeploy, which accepts every report. */
const respondAsSsm = (parameter: AwsResponse | Promise<AwsResponse>) => {
  aws.responses = {
    // https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
    GetParameter: (body) => {
      expect(JSON.parse(body)).toEqual({ Name: probeKeyParameter(staging), WithDecryption: true });
      return parameter;
    },
    // https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_PutLifecycleEventHookExecutionStatus.html
    PutLifecycleEventHookExecutionStatus: (body) => {
      const report = JSON.parse(body);
      reports.push(report);
      return json({ lifecycleEventHookExecutionId: report.lifecycleEventHookExecutionId });
    },
  };
};

const failing = 'exports.handler = async () => { throw new Error("broken on purpose"); };';

/** A check that keeps 15 of its 16 s for its report, of which Lambda leaves it only 5 here. */
const shortCheck: Change = {
  bundleName: 'before-traffic',
  source: `
    const built = require('./built.cjs');
    exports.handler = (event) => built.handler(event, { getRemainingTimeInMillis: () => 16_000 });`,
  timeoutMs: 6_000,
};

/** A version that alters each response of the built one by a statement. */
const altering = (bundleName: string, statement: string): Change => ({
  bundleName,
  source: `
    const built = require('./built.cjs');
    exports.initialise = built.initialise;
    exports.handler = async (event, context) => {
      const response = await built.handler(event, context);
      ${statement}
      return response;
    };`,
});

/** A version of listPets that responds with 200 instead of 401 to events of a kind. */
const accepting = (kind: string): Change =>
  altering('list-pets', `if (response.statusCode === 401 && ${kind}) response.statusCode = 200;`);

/** A bundle whose clock shows the sunset of getPet. Lambda's time-out stays as far away as it was. */
const atSunset = `
  const { now } = Date;
  const untilSunset = ${getPet.deprecation?.sunset.getTime()} - now();
  Date.now = () => now() + untilSunset;
  const built = require('./built.cjs');
  exports.initialise = built.initialise;
  exports.handler = (event, context) =>
    built.handler(event, { ...context, getRemainingTimeInMillis: () => 60_000 });`;

/**
 * The hook of each check that names no other. Its clock only moves while it pauses, its pauses are 20 times
 * as short, and its SDK does not repeat calls by itself.
 */
const hasty = {
  bundleName: 'before-traffic',
  source: `
    process.env.AWS_MAX_ATTEMPTS = '1';
    const timers = require('node:timers/promises');
    const { setTimeout } = timers;
    let elapsedMs = 0;
    timers.setTimeout = (ms) => {
      elapsedMs += ms;
      return setTimeout(ms / 20);
    };
    performance.now = () => elapsedMs;
    exports.handler = require('./built.cjs').handler;`,
};

describe('the check before traffic', () => {
  beforeAll(async () => {
    respondAsSsm(json({ Parameter: { Value: apiKey } }));
    asBuilt.set(hasty.bundleName, await startChanged(hasty));
  });

  it('passes good versions, and only reads the tables', async () => {
    expect(await check({ bundleName: 'before-traffic' })).toEqual(succeeded);
    const actions = new Set(proxy.accesses.map(({ action }) => action));
    expect(actions.size).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^(Get|BatchGet|Query|Scan)/);
  });

  it('passes while the catalogue is empty', async () => {
    const noItems = respondWith('{"Items":[],"Count":0,"ScannedCount":0}');
    proxy.inject(`Query ${tableOf('PetsTable')}`, noItems);
    expect(await check()).toEqual(succeeded);
  });

  it('takes 410 of getPet from its sunset on', async () => {
    const service = { bundleName: 'get-pet', source: atSunset };
    const hook = { bundleName: 'before-traffic', source: atSunset };
    expect(await check(service, hook)).toEqual(succeeded);
    const { failures } = await check(hook);
    expect(failures).toEqual(['getPet: Error: status 404 instead of 410']);
  });

  it.each([
    ['a missing environment variable', { bundleName: 'get-pet', without: 'PETS_TABLE' }, 'getPet'],
    ['a broken fallback', { bundleName: 'fallback', source: failing }, 'fallback'],
    [
      'a wrong header',
      altering('create-pet', 'if (response.statusCode === 400) response.headers = {};'),
      'createPet',
    ],
    [
      'a wrong body',
      altering('list-pets', `if (response.statusCode === 200) response.body = '[{"id":1}]';`),
      'listPets',
    ],
    ['a list without an API key', accepting('!event.headers.Authorization'), 'listPets'],
    ['a list for an unknown API key', accepting('event.headers.Authorization'), 'listPets'],
  ] satisfies [string, Change, string][])('fails %s', async (_what, change, name) => {
    const { reports: reported, failures } = await check(change);
    expect(reported).toEqual(failed);
    expect(failures).toContainEqual(expect.stringMatching(`^${name}: `));
  });

  it('reports a failure before its own time is up, if a function does not respond', async () => {
    const hangs = 'exports.handler = () => new Promise(() => {});';
    const hanging = { bundleName: 'list-pets', source: hangs, timeoutMs: 7_000 };
    expect((await check(hanging, shortCheck)).reports).toEqual(failed);
  });

  it('waits until IAM has noticed its own role', async () => {
    const allowed = aws.responses;
    const left = new Map(Object.keys(allowed).map((action) => [action, 2]));
    const refuseAtFirst = (action: string, responseOf: Responses[string]) => (body: string) => {
      const refusals = left.get(action) ?? 0;
      left.set(action, refusals - 1);
      if (refusals > 0) return jsonError('AccessDeniedException');
      return typeof responseOf === 'function' ? responseOf(body) : responseOf;
    };
    aws.responses = Object.fromEntries(
      Object.entries(allowed).map(([action, each]) => [action, refuseAtFirst(action, each)]),
    );
    expect(await check()).toEqual(succeeded);
    aws.responses = allowed;
  });

  // Four deployments run the check at the same time, and 3 errors of a version roll its deployment back.
  it.each(['GetItem Keys', 'GetItem Pets', 'Query Pets'])(
    'fails at once when a function may not %s, instead of passing a version that has errors',
    async (call) => {
      const [action, table = ''] = call.split(' ');
      proxy.inject(`${action} ${tableOf(table)}`, faults.accessDenied, 1);
      expect(await check()).toMatchObject({
        reports: failed,
        failures: [expect.stringMatching(/: Error: status 500 instead of /)],
      });
    },
  );

  it('waits while Lambda throttles the functions for ten seconds', async () => {
    throttles = 10;
    expect(await check()).toEqual(succeeded);
    expect(throttles).toBe(0);
  });

  it('fails a service that is closed, and says so', async () => {
    throttles = Infinity;
    const { reports: reported, failures } = await check();
    throttles = 0;
    expect(reported).toEqual(failed);
    const message = 'somebody has set it to 0';
    expect(failures).toContainEqual(expect.stringMatching(`^createPet: .*${message}`));
  });
});

it('fails without a key of the probe, and says how to issue one', async () => {
  respondAsSsm(jsonError('ParameterNotFound'));
  expect(await check()).toEqual({
    reports: failed,
    failures: [expect.stringContaining('run npm run keys -- issue --for-probe --stage staging')],
  });
});

it('reports a failure before its own time is up, if the key never comes', async () => {
  respondAsSsm(new Promise(() => {}));
  expect((await check(shortCheck)).reports).toEqual(failed);
});
