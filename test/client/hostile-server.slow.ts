import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { findProgram } from '../support/find-program.ts';
import { listen } from '../support/listen.ts';

const run = promisify(execFile);

const apiKey = `pets_test_0123456789abcdef_${'0123456789abcdef'.repeat(4)}01234567`;
const rex = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
const unexpected = { name: 'AnimalStoreError', code: 'unexpected_response' };

const bomb = gzipSync(Buffer.alloc(200 * 1_048_576, ' '));

type Respond = (exchange: {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The origin of another server, which should get no request. */
  readonly elsewhere: string;
}) => unknown;

/** A server's behaviour, a call of the client, and what the call does. */
interface Case {
  readonly respond: Respond;
  /** JavaScript that uses `store` and `elsewhere`. */
  readonly call?: string;
  /** JavaScript: options of the constructor besides `baseAddress` and `apiKey`. */
  readonly options?: string;
  /** The result of the call, or the error that it throws. */
  readonly value?: unknown;
  readonly error?: object;
  readonly requests?: number;
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  ({ response }) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

const html =
  (status: number): Respond =>
  ({ response }) =>
    response.writeHead(status, { 'Content-Type': 'text/html' }).end('<html>Sign in</html>');

const errorBody = (code: string, status: number) => ({ code, message: 'Injected.', status });

const create = "store.createPet({ name: 'Rex', categoryId: 1 })";
const listAll = 'Array.fromAsync(store.listPets())';

const redirects = [302, 307].flatMap((status) =>
  ['store.getPet(1)', create].map((call): [string, Case] => [
    `a redirect to the page of a captive portal: ${status} to ${call}`,
    {
      respond: ({ response, elsewhere }) =>
        response.writeHead(status, { Location: `${elsewhere}/v1/pets/1` }).end(),
      call,
      error: unexpected,
      requests: 1,
    },
  ]),
);

/** What proxies, captive portals and broken gateways between a client and the service send. */
const cases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(redirects),
  'the page of a captive portal': {
    respond: html(200),
    error: { ...unexpected, status: 200 },
    requests: 1,
  },
  'the page of a captive portal with its own status': {
    respond: html(511),
    error: { ...unexpected, status: 511 },
    requests: 1,
  },
  'the error page of a gateway': {
    respond: html(502),
    error: { ...unexpected, status: 502 },
    requests: 4,
  },
  'the error of another gateway': {
    respond: json(403, { message: 'Forbidden' }),
    error: { ...unexpected, status: 403 },
    requests: 1,
  },
  'JSON of another service': {
    respond: json(200, { status: 'ok' }),
    error: { ...unexpected, status: 200 },
    requests: 1,
  },
  'an empty body': {
    respond: ({ response }) => response.writeHead(200).end(),
    error: { ...unexpected, status: 200 },
    requests: 1,
  },
  'a body that is cut': {
    respond: ({ response }) => {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write('{"id":', () => response.destroy());
    },
    error: { name: 'NetworkError' },
    requests: 4,
  },
  'a body that never ends, one byte at a time': {
    respond: ({ response }) => {
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    },
    options: '{ timeoutMs: 500 }',
    error: { name: 'TimeoutError' },
    requests: 4,
  },
  'a body of 200 KB that unpacks to 200 MB': {
    respond: ({ response }) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb),
    error: { ...unexpected, message: expect.stringContaining('1 MiB') },
    requests: 1,
  },
  'bytes that are not HTTP, with the API key': {
    respond: ({ request }) => request.socket.end(`${request.headers.authorization}\r\n\r\n`),
    error: { name: 'NetworkError' },
    requests: 4,
  },
  'the API key in the message of an error': {
    respond: (exchange) => {
      const message = `Not a valid header: ${exchange.request.headers.authorization}`;
      return json(403, { code: 'forbidden', message, status: 403 })(exchange);
    },
    error: { code: 'forbidden', message: 'Not a valid header: Bearer <API key>' },
    requests: 1,
  },
  'the first page for each page, because a cache ignores the query': {
    respond: json(200, [rex], { Link: '</v1/pets?cursor=second>; rel="next"' }),
    call: listAll,
    error: { ...unexpected, message: expect.stringContaining('does not end') },
    requests: 2,
  },
  'links of a proxy around the one to the next page': {
    respond: json(200, [rex], {
      Link: '<https://a.example/?cursor=a>; title="b"; rel="first", </v1/pets?cursor=c%26d>; title=e; rel=next,',
    }),
    call: 'store.listPetsPage()',
    value: { pets: [rex], nextCursor: 'c&d' },
  },
  'a link of a proxy to another relation': {
    respond: json(200, [rex], { Link: '</v1/pets?cursor=a>; rel="prev"; title="next"' }),
    call: 'store.listPetsPage()',
    value: { pets: [rex] },
  },
  'a status and fields of a later version': {
    respond: json(200, { ...rex, status: 'reserved', birthDate: '2026-01-01' }),
    value: { ...rex, status: 'reserved', birthDate: '2026-01-01' },
  },
  'a Retry-After of 300 seconds': {
    respond: json(429, errorBody('too_many_requests', 429), { 'Retry-After': '300' }),
    error: { code: 'too_many_requests', status: 429, retryAfterMs: 300_000 },
    requests: 1,
  },
  'a Retry-After of a date in the year 9999': {
    respond: json(503, errorBody('service_unavailable', 503), {
      'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT',
    }),
    error: { code: 'service_unavailable', retryAfterMs: expect.any(Number) },
    requests: 1,
  },
  'waits that are too long together': {
    respond: json(429, errorBody('too_many_requests', 429), { 'Retry-After': '1' }),
    options: '{ maxRetryWaitMs: 1500 }',
    error: { code: 'too_many_requests', retryAfterMs: 1_000 },
    requests: 2,
  },
};

const baseAddress = 'https://animal-store.example/v1';

/** Options that the constructor refuses, each with the start of its error. */
const refusedOptions = [
  ...['', ' ', '\n', '\r\n', '\0', 'é', '\nrevoke it with: npm run keys', undefined].map((end) => ({
    ...{ baseAddress, apiKey: end && apiKey + end },
    refusal: '^TypeError: apiKey must be',
  })),
  ...[
    '',
    '/v1',
    'animal-store.example/v1',
    'ftp://animal-store.example/v1',
    'https://user:password@animal-store.example/v1',
    `${baseAddress}?stage=prod`,
    `${baseAddress}#pets`,
    apiKey,
    undefined,
  ].map((malformed) => ({
    ...{ baseAddress: malformed, apiKey },
    refusal: '^TypeError: baseAddress must be',
  })),
  // A timer would take these for 1 ms.
  ...[0, 2 ** 31, '10', null].map((timeoutMs) => ({
    ...{ baseAddress, apiKey, timeoutMs },
    refusal: '^RangeError: timeoutMs must be',
  })),
  ...[-1, 2 ** 31, '10', null].map((maxRetryWaitMs) => ({
    ...{ baseAddress, apiKey, maxRetryWaitMs },
    refusal: '^RangeError: maxRetryWaitMs must be',
  })),
];

const servers: ReturnType<typeof createServer>[] = [];

/** Starts a server for one case. Returns its origin and the requests that it gets. */
const serve = async (respond: Respond, elsewhere = '') => {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    // The blank page of Chromium, which calls the client, has the origin of the server.
    if (url === '/') return void response.end('<title>test</title>');
    if (url === '/favicon.ico') return void response.writeHead(404).end();
    await text(request);
    requests.push(`${method} ${url}`);
    await respond({ request, response, elsewhere });
  });
  servers.push(server);
  return { origin: `http://127.0.0.1:${await listen(server)}`, requests };
};

/** The outcome of a call: what it returned or threw, and all text that can be reached from an error. */
interface Outcome {
  readonly value?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A program for each runtime: imports the client as `module`, and returns the outcome of `code` as JSON. */
const program = (module: string, code: string) => `(async () => {
  const { AnimalStore } = await import(${JSON.stringify(module)});
  const textOf = (value, seen = new Set()) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return String(value);
    seen.add(value);
    return Reflect.ownKeys(value).map((key) => String(key) + ': ' + textOf(value[key], seen)).join('\\n');
  };
  const outcome = await (async () => ({ value: await (async () => { ${code} })(), text: '' }))()
    .catch((error) => ({
      error: { ...error, name: error.name, message: error.message, cause: { ...error.cause } },
      text: textOf(error),
    }));
  return JSON.stringify(outcome, (_key, value) => typeof value === 'bigint' ? String(value) : value);
})()`;

/** A JavaScript runtime that calls the client in a page, or a process, of its own. */
interface Runtime {
  readonly name: string;
  readonly evaluate: (code: string, origin: string) => Promise<string>;
}

const folder = await mkdtemp(join(tmpdir(), 'animal-store-client-'));
const bundle = join(folder, 'animal-store.js');

/** A time in ms that is longer than a call takes on a busy machine. */
const hangMs = 90_000;

const node = (path: string): Runtime => ({
  name: path === process.execPath ? `Node.js ${process.version}` : path,
  async evaluate(code) {
    const evaluated = `console.log(await ${program(pathToFileURL(bundle).href, code)})`;
    const options = { timeout: hangMs, killSignal: 'SIGKILL' } as const;
    const { stdout } = await run(path, ['--input-type=module', '--eval', evaluated], options);
    return stdout;
  },
});

const chromiumPath = findProgram(['chromium', 'google-chrome']);
if (!chromiumPath) console.info('No browser calls the hostile server: there is no Chromium here.');
let browser: Browser | undefined;
// Its pages share a process, which makes them start faster.
let context: BrowserContext | undefined;
const inChromium: Runtime = {
  name: 'Chromium',
  async evaluate(code, origin) {
    const page = await context?.newPage();
    if (!page) throw new Error('Chromium is not running');
    await page.goto(origin);
    const source = await readFile(bundle, 'base64');
    const result = await page.evaluate(program(`data:text/javascript;base64,${source}`, code));
    await page.close();
    return `${result}`;
  },
};

/** Paths of Node.js to call the client from instead, as in `NODES=/…/node22:/…/node26`. */
const { NODES } = process.env;
const runtimes = NODES
  ? NODES.split(':').map(node)
  : [node(process.execPath), ...(chromiumPath ? [inChromium] : [])];

beforeAll(async () => {
  const command = join(projectDirectory, 'infra', 'commands', 'client.ts');
  await run(process.execPath, [command, '--out', folder]);
  if (!runtimes.includes(inChromium)) return;
  browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  context = await browser.newContext();
});

afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

const evaluate = async (runtime: Runtime, code: string, origin: string): Promise<Outcome> =>
  JSON.parse(await runtime.evaluate(code, origin));

const construct = (options: Readonly<Record<string, string>>, more = '{}') =>
  `const store = new AnimalStore({ ...${JSON.stringify(options)}, ...${more} });`;

describe.each(runtimes)('the typed client in $name', (runtime) => {
  it.concurrent.each(Object.entries(cases))(
    'survives a server that sends %s',
    async (_what, given) => {
      const { respond, call = 'store.getPet(1)', options, value, error, requests } = given;
      const other = await serve(json(200, rex));
      const server = await serve(respond, other.origin);
      const code = `const elsewhere = '${other.origin}';
      ${construct({ baseAddress: `${server.origin}/v1`, apiKey }, options)} return ${call};`;
      const outcome = await evaluate(runtime, code, server.origin);
      if (error) expect(outcome.error ?? outcome).toMatchObject(error);
      else expect(outcome).toEqual({ value, text: '' });
      expect(outcome.text).not.toContain(apiKey);
      expect(other.requests).toEqual([]);
      if (requests !== undefined) expect(server.requests).toHaveLength(requests);
    },
  );

  it.concurrent('refuses invalid options, and does not repeat them', async () => {
    const { origin } = await serve(json(200, rex));
    const code = `${JSON.stringify(refusedOptions)}.map((options) => {
      try { new AnimalStore(options); return 'no error'; }
      catch (error) { return error.name + ': ' + error.message; }
    })`;
    const { value } = await evaluate(runtime, `return ${code};`, origin);
    expect(value).toEqual(refusedOptions.map(({ refusal }) => expect.stringMatching(refusal)));
    expect(JSON.stringify(value)).not.toMatch(/pets_test|password|ftp:/);
  });

  it.concurrent('refuses an Idempotency-Key that no header can carry, and sends nothing', async () => {
    const { origin, requests } = await serve(json(201, rex));
    const call = "store.createPet({ name: 'Rex', categoryId: 1 }, { idempotencyKey: 'a\\nb' })";
    const code = `${construct({ baseAddress: `${origin}/v1`, apiKey })} return ${call};`;
    const { error } = await evaluate(runtime, code, origin);
    const message = expect.stringMatching(/^idempotencyKey must be/);
    expect(error).toMatchObject({ name: 'RangeError', message });
    expect(requests).toEqual([]);
  });

  it.concurrent('stops waiting for a retry when its signal is aborted', async () => {
    const busy = json(429, errorBody('too_many_requests', 429), { 'Retry-After': '20' });
    const { origin, requests } = await serve(busy);
    const signal = 'AbortSignal.timeout(1000)';
    const code = `${construct({ baseAddress: `${origin}/v1`, apiKey })} return store.getPet(1, { signal: ${signal} });`;
    const { error } = await evaluate(runtime, code, origin);
    expect(error).toMatchObject({
      name: 'TimeoutError',
      message: expect.stringMatching(/abort|signal/),
    });
    expect(requests).toHaveLength(1);
  });
});
