import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import * as z from 'zod/mini';
import { bundleDirectory } from '../../infra/lambda/bundle-functions.ts';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import type { FunctionDefinition } from '../../infra/local/lambda/function-definition.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { type EventParts, proxyEvent } from '../support/proxy-event.ts';
import { testDirectory } from '../support/test-gateway.ts';
import { FunctionProcess } from './function-process.ts';

const names = ['list-pets', 'create-pet', 'get-pet', 'unrouted'] as const;
type Name = (typeof names)[number];

const Response = z.object({ response: z.object({ statusCode: z.number(), body: z.string() }) });

const headers = { Authorization: `Bearer ${inject('apiKey')}`, 'Content-Type': 'application/json' };
/** A request that each function responds to with success, and its status. */
const requests: Readonly<Record<Name, readonly [EventParts, number]>> = {
  'list-pets': [{ headers, query: { limit: '2' } }, 200],
  'create-pet': [{ method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' }, 201],
  'get-pet': [{ resource: '/pets/{petId}', petId: '1', headers }, 404],
  unrouted: [{ resource: '/{proxy+}', headers }, 404],
};

let definitions: ReadonlyMap<string, FunctionDefinition>;
beforeAll(async () => {
  const { functions } = await readStack(inject('assembly') ?? '');
  definitions = new Map([...functions.values()].map((one) => [one.bundleName, one]));
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const definitionOf = (name: Name): FunctionDefinition => {
  const definition = definitions.get(name);
  if (!definition) throw new Error(`The stack has no function ${name}`);
  return definition;
};

const started = async (
  definition: FunctionDefinition,
  taskRoot = bundleDirectory(definition.bundleName),
  endpoint = inject('dynamodb')?.dynamodbEndpoint ?? '',
) => {
  const running = await FunctionProcess.start(definition, taskRoot, endpoint);
  cleanups.push(() => running.stop());
  return running;
};

/** An address that accepts connections and never responds. */
const hangingEndpoint = async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
};

const statusOf = (outcome: unknown) => Response.parse(outcome).response.statusCode;

describe.each(names)('%s on the runtime client of AWS, as it is deployed', (name) => {
  const [parts, success] = requests[name];
  const event = proxyEvent(parts);

  it('initialises, and responds to 100 invocations with lines of JSON on standard output', async () => {
    const running = await started(definitionOf(name));
    expect(await running.initialised).toBe('ready');
    expect([running.out, running.err]).toEqual(['', '']);
    for (let count = 0; count < 100; count += 1) {
      expect(statusOf(await running.invoke(`request-${count}`, event))).toBe(success);
    }
    await expect.poll(() => running.lines.length).toBeGreaterThanOrEqual(100);
    for (const line of running.lines) expect(JSON.parse(line)).toBeTypeOf('object');
    expect(running.lines.join()).toContain('request-99');
    expect(running.err).toBe('');
  });

  it.each([
    ['hangs', hangingEndpoint],
    ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`],
  ])(
    'initialises within 10 s while DynamoDB %s, and responds with an Error body',
    async (_how, endpoint) => {
      const begin = Date.now();
      const running = await started(definitionOf(name), undefined, await endpoint());
      expect(await running.initialised).toBe('ready');
      expect(Date.now() - begin).toBeLessThan(10_000);
      const { response } = Response.parse(await running.invoke('request', event));
      expect(response.statusCode).toBe(name === 'unrouted' ? 404 : 503);
      expect(JSON.parse(response.body)).toMatchObject({ status: response.statusCode });
    },
  );

  it('responds to the next invocation after an event that is none', async () => {
    const running = await started(definitionOf(name));
    await running.invoke('none', null);
    expect(statusOf(await running.invoke('request', event))).toBe(success);
  });
});

describe('the runtime client of AWS', () => {
  const deployed = async (bundle: string) => {
    const taskRoot = await testDirectory({ 'get-pet': bundle });
    cleanups.push(() => rm(taskRoot, { recursive: true }));
    return started(definitionOf('get-pet'), taskRoot);
  };

  it('reports a thrown error, prints it, and goes on', async () => {
    const running = await deployed(
      "exports.handler = async (event) => { if (event.fails) throw new Error('on purpose'); return 'fine'; };",
    );
    expect(await running.invoke('one', { fails: true })).toMatchObject({
      error: { errorType: 'Error', errorMessage: 'on purpose' },
    });
    expect(await running.invoke('two', {})).toEqual({ response: 'fine' });
    expect(running.lines.join('\n')).toContain('on purpose');
  });

  it.each([
    ['throws', "throw new Error('on purpose');"],
    [
      'rejects its initialisation',
      "exports.initialise = async () => { throw new Error('on purpose'); };",
    ],
  ])('reports that INIT failed when the bundle %s', async (_how, bundle) => {
    const running = await deployed(bundle);
    expect(await running.initialised).toMatchObject({ error: { errorMessage: 'on purpose' } });
  });
});
