import { cp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { bundleName, execWrapper, functionNames } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { testDirectory } from '../local/test-gateway.ts';
import { exampleRequest } from '../support/events.ts';
import { freePort, listen } from '../support/listen.ts';
import { shared } from '../support/shared.ts';
import { assemblyDirectory } from '../support/templates.ts';
import { startFunction } from './function-process.ts';

const Response = v.object({ response: v.object({ statusCode: v.number(), body: v.string() }) });

const apiKey = shared('apiKey');
const store = new AnimalStore({ baseAddress: shared('baseAddress'), apiKey });
const { id } = await store.createPet({ name: 'Rex', categoryId: 1 });

const { functions } = await readStack(assemblyDirectory(), staging);

const started = async (
  name: string,
  taskRoot = bundleDirectory(name),
  endpoint = shared('dynamodb').dynamodbEndpoint,
) => {
  const definition = [...functions.values()].find(({ bundleName }) => bundleName === name);
  if (!definition) throw new Error(`The stack has no function ${name}`);
  const running = await startFunction(definition, taskRoot, endpoint);
  onTestFinished(running.stop);
  return running;
};

/** An address that accepts connections and never responds. */
const hangingEndpoint = async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listen(server)}`;
};

const statusOf = (outcome: unknown) => v.parse(Response, outcome).response.statusCode;

describe.each(functionNames)('%s on the runtime client of AWS', (functionName) => {
  const name = bundleName(functionName);
  const { event, status: success } = exampleRequest(functionName, apiKey, id);

  it('initialises, and responds to 100 invocations with lines of JSON on standard output', async () => {
    const running = await started(name);
    expect(await running.initialised).toBe('ready');
    expect(running.printed).toEqual({ out: '', err: '' });
    for (let count = 0; count < 100; count += 1) {
      expect(statusOf(await running.invoke(`request-${count}`, event))).toBe(success);
    }
    await expect.poll(() => running.printed.out).toContain('request-99');
    const lines = running.printed.out.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(100);
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object');
    expect(running.printed.err).toBe('');
  });

  it.each([
    ['hangs', hangingEndpoint],
    ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`],
  ])('initialises in 10 s while DynamoDB %s, and responds with an Error body', async (_how, at) => {
    const begin = Date.now();
    const running = await started(name, undefined, await at());
    expect(await running.initialised).toBe('ready');
    expect(Date.now() - begin).toBeLessThan(10_000);
    const { response } = v.parse(Response, await running.invoke('request', event));
    expect(response.statusCode).toBe(name === 'fallback' ? 404 : 503);
    expect(JSON.parse(response.body)).toMatchObject({ status: response.statusCode });
  });

  it('responds with 500 to an event that is none, and then to the next one', async () => {
    const running = await started(name);
    expect(statusOf(await running.invoke('none', null))).toBe(500);
    expect(statusOf(await running.invoke('request', event))).toBe(success);
  });
});

describe('a bundle that fails to initialise', () => {
  it.each([
    ['throws', "throw new Error('on purpose');"],
    ['rejects', "exports.initialise = async () => { throw new Error('on purpose'); };"],
  ])('is reported as an error of INIT when it %s', async (_how, bundle) => {
    const taskRoot = await testDirectory({ 'get-pet': bundle });
    await cp(join(bundleDirectory('get-pet'), execWrapper), join(taskRoot, execWrapper));
    const running = await started('get-pet', taskRoot);
    expect(await running.initialised).toMatchObject({ error: { errorMessage: 'on purpose' } });
  });
});
