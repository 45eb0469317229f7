import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyProject } from '../start/npm-start.ts';
import { findProgram } from '../support/find-program.ts';
import { listen } from '../support/listen.ts';

const run = promisify(execFile);

const apiKey = `pets_test_0123456789abcdef_${'0123456789abcdef'.repeat(4)}01234567`;
const unexpected = { name: 'AnimalStoreError', code: 'unexpected_response' };

type Respond = (exchange: {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The origin of another server, which should get no request. */
  readonly elsewhere: string;
}) => unknown;

/** What a server sends, and the error that a call of the client throws. */
interface Case {
  readonly respond: Respond;
  readonly error: object;
  /** How many requests the server gets. */
  readonly requests: number;
}

/** What proxies, captive portals and broken gateways send, and each platform takes in its own way. */
const cases: Readonly<Record<string, Case>> = {
  'a redirect to the page of a captive portal': {
    respond: ({ response, elsewhere }) =>
      response.writeHead(307, { Location: `${elsewhere}/v1/pets/1` }).end(),
    error: unexpected,
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
    error: { name: 'TimeoutError' },
    requests: 4,
  },
  'bytes that are not HTTP, with the API key': {
    respond: ({ request }) => request.socket.end(`${request.headers.authorization}\r\n\r\n`),
    error: { name: 'NetworkError' },
    requests: 4,
  },
};

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

/** The error of a call, and all text that can be reached from it. */
interface Outcome {
  readonly error: unknown;
  readonly text: string;
}

/** A program for each runtime: imports the client as `module`, and returns the outcome of a call as JSON. */
const program = (module: string, baseAddress: string) => `(async () => {
  const { AnimalStore } = await import(${JSON.stringify(module)});
  const store = new AnimalStore(${JSON.stringify({ baseAddress, apiKey, timeoutMs: 2_000 })});
  const textOf = (value, seen = new Set()) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return String(value);
    seen.add(value);
    return Reflect.ownKeys(value).map((key) => String(key) + ': ' + textOf(value[key], seen)).join('\\n');
  };
  const error = await store.getPet(1).catch((error) => error);
  const { name, message, code } = error;
  return JSON.stringify({ error: { name, message, code }, text: textOf(error) });
})()`;

/** A JavaScript runtime that calls the client in a page, or a process, of its own. */
interface Runtime {
  readonly name: string;
  readonly evaluate: (baseAddress: string) => Promise<string>;
}

const project = await copyProject(afterAll);
const bundle = join(project, '.build/client/animal-store.js');

/** A time in ms that is longer than a call takes on a busy machine. */
const hangMs = 90_000;

const node = (path: string): Runtime => ({
  name: path === process.execPath ? `Node.js ${process.version}` : path,
  async evaluate(baseAddress) {
    const code = program(pathToFileURL(bundle).href, baseAddress);
    const evaluated = `console.log(await ${code})`;
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
  async evaluate(baseAddress) {
    const page = await context?.newPage();
    if (!page) throw new Error('Chromium is not running');
    await page.goto(new URL(baseAddress).origin);
    const source = await readFile(bundle, 'base64');
    const module = `data:text/javascript;base64,${source}`;
    const result = await page.evaluate(program(module, baseAddress));
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
  await run(process.execPath, [join(project, 'infra/commands/client.ts')]);
  if (!runtimes.includes(inChromium)) return;
  browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  context = await browser.newContext();
});

afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close().closeAllConnections();
});

describe.each(runtimes)('the typed client in $name', (runtime) => {
  it.concurrent.each(Object.entries(cases))(
    'throws an error without its API key when a server sends %s',
    async (_what, { respond, error, requests }) => {
      const other = await serve(({ response }) => response.end());
      const server = await serve(respond, other.origin);
      const outcome: Outcome = JSON.parse(await runtime.evaluate(`${server.origin}/v1`));
      expect(outcome.error).toMatchObject(error);
      expect(outcome.text).not.toContain(apiKey);
      expect(other.requests).toEqual([]);
      expect(server.requests).toHaveLength(requests);
    },
  );
});
