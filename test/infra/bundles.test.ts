import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleDirectory, bundleOptions } from '../../infra/build/bundle-functions.ts';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { bundleName, execWrapper } from '../../infra/settings/names.ts';
import { operations } from '../../lib/operations/operations.ts';
import { DynamodbStandIn, type RespondTo } from '../support/dynamodb-stand-in.ts';
import { bearer, eventWith, exampleCallsOf, exampleRequest } from '../support/events.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type LambdaProcess, lambdaFlags, runLambda } from '../support/lambda-process.ts';
import { shared } from '../support/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createTestTables } from '../support/test-tables.ts';

const local = shared('dynamodb');
const { putItems, putPet, issueApiKey, tables, variables } = await createTestTables(local);
const apiKey = await issueApiKey();

/** Sends a request on to DynamoDB Local, which takes any signature. */
const askDynamodb: RespondTo = async (target, body) => {
  const headers = {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': target,
    Authorization:
      'AWS4-HMAC-SHA256 Credential=any/20260101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=any',
  };
  const response = await fetch(local.dynamodbEndpoint, { method: 'POST', headers, body });
  const [table] = `${JSON.parse(body).TableName}`.split('-');
  const call = `${target.replace('DynamoDB_20120810.', '')} ${table}`;
  return { call, status: response.status, body: await response.text() };
};

const region = 'eu-central-1';
const host = `dynamodb.${region}.amazonaws.com`;

const standIn = await DynamodbStandIn.start(host, askDynamodb);
afterAll(() => standIn[Symbol.asyncDispose]());

const functions = operations.map(({ name }) => ({ operation: name, name: bundleName(name) }));

describe.each(functions)('the bundle of $name', ({ operation, name }) => {
  let lastId = 1_000;
  /** A request with items of its own, which the operation may change or remove. */
  const newRequest = async () => {
    lastId += 1;
    const { items, ...request } = exampleRequest(operation, apiKey, lastId);
    await putItems(items);
    return request;
  };
  const calls = exampleCallsOf({ name: operation }).map(({ call }) => call);

  /**
   * Runs the module that Lambda loads. By default, it handles one request in the environment of the stand-in.
   */
  const run = async ({ environment, ...rest }: Partial<LambdaProcess>) => {
    const { event, status } = await newRequest();
    const { invocations } = await runLambda({
      module: join(bundleDirectory(name), `${name}.mjs`),
      environment: { ...standIn.environment, ...variables, ...environment },
      events: [event],
      ...rest,
    });
    return { statuses: invocations.map(({ statusCode }) => statusCode), expected: status };
  };

  it('loads Node’s own modules from their code cache, although Lambda gives Node.js a flag', async () => {
    const script = `
      await import(${JSON.stringify(join(bundleDirectory(name), `${name}.mjs`))});
      const { createRequire } = process.getBuiltinModule('node:module');
      const { internalBinding } = createRequire('/')('internal/test/binding');
      const usage = internalBinding('builtins').getCacheUsage();
      const fromCache = [...usage.compiledWithCache];
      console.log(JSON.stringify({ fromCache, compiled: [...usage.compiledWithoutCache] }));
      process.exit();`;
    const words = ['--expose-internals', '--input-type=module', '--eval', script];
    const { environment: env } = standIn;
    const wrapper = join(bundleDirectory(name), execWrapper);
    const command = [process.execPath, ...lambdaFlags, ...words];
    const { stdout } = await promisify(execFile)(wrapper, command, { env });
    const fromCache = expect.arrayContaining(['crypto', 'https', 'tls']);
    expect(JSON.parse(stdout)).toEqual({ fromCache, compiled: [] });
  });

  it('connects before any request, and calls DynamoDB once for a request with a known key', async () => {
    standIn.requests.length = 0;
    const events = [(await newRequest()).event, (await newRequest()).event];
    // On a busy machine, an attempt would be given up and made again.
    const flags = ['--require', join(projectDirectory, 'infra/local/lambda/stretch-timeouts.cjs')];
    const { statuses, expected } = await run({ events, flags });
    expect(statuses).toEqual([expected, expected]);

    const received = standIn.requests.map(({ call }) => call);
    // The first call warms up the connection.
    expect(received).toEqual(['GetItem Keys', 'GetItem Keys', ...calls, ...calls]);
  });

  it(`calls ${host} in ${region} with the temporary credentials of its environment`, async () => {
    standIn.requests.length = 0;
    await run({
      environment: {
        AWS_ENDPOINT_URL_DYNAMODB: '',
        AWS_REGION: region,
        STAND_IN_PORT: `${standIn.port}`,
      },
      flags: ['--require', join(projectDirectory, 'test', 'support', 'route-connections.cjs')],
    });
    const scope = new RegExp(`Credential=ASIASTANDIN/\\d{8}/${region}/dynamodb/aws4_request`);
    expect(standIn.requests).not.toHaveLength(0);
    for (const { headers } of standIn.requests) {
      expect(headers.host).toBe(host);
      expect(headers.authorization).toMatch(scope);
      expect(headers['x-amz-security-token']).toBe('token');
    }
  });
});

describe('the script that starts Node.js', () => {
  const print = ['-p', 'JSON.stringify(process.argv.slice(1))'];
  const awkward = ['two words', '', '*', '$HOME', '--', '-n', '!', '\\'];

  it.each([
    ['unchanged', [...print, '--', ...awkward], awkward],
    ['without --expose-gc', ['--expose-gc', ...print, '--', 'a', '--expose-gc', 'b'], ['a', 'b']],
  ])('runs a command %s', async (_how, words, expected) => {
    const wrapper = join(bundleDirectory('fallback'), execWrapper);
    const { stdout } = await promisify(execFile)(wrapper, [process.execPath, ...words]);
    expect(JSON.parse(stdout)).toEqual(expected);
  });
});

describe('the cause of a 500 in the log line', async () => {
  /** Requests the pet 7 from a deployed folder. Returns the cause in the log line of the response. */
  const causeOf = async (folder: string, environment: Readonly<Record<string, string>> = {}) => {
    const { invocations, printed } = await runLambda({
      module: join(folder, 'get-pet.mjs'),
      environment: {
        ...functionEnvironment(local.dynamodbEndpoint),
        PETS_TABLE: tables.pets,
        KEYS_TABLE: tables.keys,
        ...environment,
      },
      events: [eventWith({ path: { petId: 7 }, headers: bearer(await issueApiKey()) })],
    });
    expect(invocations).toMatchObject([{ statusCode: 500 }]);
    return JSON.parse(printed).cause;
  };

  /** Returns the place of the only line of a source that has this text. */
  const placeOf = async (source: string, text: string) => {
    const lines = (await readFile(join(projectDirectory, source), 'utf8')).split('\n');
    return `${source}:${lines.findIndex((line) => line.includes(text)) + 1}`;
  };

  it('has a message of ours, and the frames of our own code by their places in the sources, for a defect', async () => {
    await putPet({ id: 7, status: 'sold' });
    const { name, message, frames } = await causeOf(bundleDirectory('get-pet'));
    expect({ name, message }).toEqual({ name: 'Error', message: 'A stored pet is malformed' });
    expect(frames[0]).toBe(await placeOf('lib/pets/stored-pet.ts', 'stored pet is malformed'));
    expect(frames.at(-1)).toBe(await placeOf('functions/get-pet.ts', 'await pets.get('));
  });

  it('has name, status and request id of an error of AWS, and the call', async () => {
    const cause = await causeOf(bundleDirectory('get-pet'), { PETS_TABLE: 'absent' });
    expect(cause).toEqual({
      name: 'ResourceNotFoundException',
      httpStatus: 400,
      requestId: expect.stringMatching(/^[\w-]+$/),
      call: 'GetItem pets',
    });
  });

  it.each([
    ['is absent', undefined],
    ['is no source map', '{'],
  ])('has the places in the bundle when its source map %s', async (_state, contents) => {
    await putPet({ id: 7, status: 'sold' });
    const directory = await temporaryFolder();
    for (const file of ['get-pet.mjs', 'get-pet.cjs'])
      await cp(join(bundleDirectory('get-pet'), file), join(directory, file));
    if (contents) await writeFile(join(directory, 'get-pet.cjs.map'), contents);
    const { frames } = await causeOf(directory);
    expect(frames[0]).toMatch(/^get-pet\.cjs:\d+:\d+$/);
  });
});

describe('bundles', async () => {
  const { metafile, outputFiles } = await build({
    ...bundleOptions,
    entryPoints: ['functions/*.ts'],
    outdir: 'unwritten',
    write: false,
    metafile: true,
  });

  it('deploy a source map without the sources, which would be read with it', async () => {
    const map = await readFile(join(bundleDirectory('get-pet'), 'get-pet.cjs.map'), 'utf8');
    expect(JSON.parse(map)).not.toHaveProperty('sourcesContent');
  });

  it('load outside the repository, whose packages Lambda does not have', async () => {
    const directory = await temporaryFolder();
    const names = await readdir(join(bundleDirectory('get-pet'), '..'));
    expect(names).toEqual(
      expect.arrayContaining(['before-traffic', 'fallback', 'get-pet', 'probe']),
    );
    for (const name of names) {
      const copy = join(directory, name);
      await cp(bundleDirectory(name), copy, { recursive: true });
      const script = `
        const { handler } = await import('${copy}/${name}.mjs');
        console.log(typeof handler);
        process.exit();`;
      const words = ['--input-type=module', '--eval', script];
      const options = { cwd: copy, env: standIn.environment };
      const { stdout } = await promisify(execFile)(process.execPath, words, options);
      expect(stdout, name).toBe('function\n');
    }
  });

  it('format nothing for a locale, because loading ICU’s data takes a third of a cold start', () => {
    const locales = /\bIntl\b|\.(toLocale(String|Date|Time)|localeCompare)/;
    for (const { path, text } of outputFiles) expect(locales.exec(text)?.[0], path).toBe(undefined);
  });

  it('hold no package twice', () => {
    const used = Object.values(metafile.outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    const directories = new Set(
      used.flatMap(([path]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
    );
    const names = [...directories].map((path) => path.replace(/^.*node_modules\//, ''));
    expect(names).toContain('@aws-sdk/client-dynamodb');
    expect(names).toEqual([...new Set(names)]);
  });
});
