import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';
import { operations } from '../../lib/contract/operations.ts';
import { bodyMismatches } from '../support/contract.ts';
import { sendTo } from '../support/http-client.ts';

const apiKey = inject('apiKey');
const { origin } = new URL(inject('baseAddress'));

const chromiumPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((directory) => ['chromium', 'google-chrome'].map((name) => join(directory, name)))
  .find(existsSync);
if (!chromiumPath) console.info('No browser opens the reference page: there is no Chromium here.');

/** A picture of an operation from its head to the answer that it has got; the page's curl line would show the key. */
const photograph = async (operation: Locator, path: string) => {
  const page = operation.page();
  await page.evaluate('scrollTo(0, 0)');
  await page.addStyleTag({ content: '.curl-command { display: none }' });
  const [head, answer] = await Promise.all([
    operation.boundingBox(),
    operation.locator('.live-responses-table .highlight-code').boundingBox(),
  ]);
  if (!head || !answer) throw new Error('The operation is not to be seen');
  const height = answer.y + answer.height - head.y + 20;
  await page.screenshot({ path, fullPage: true, clip: { ...head, height } });
};

describe.skipIf(!chromiumPath)('the reference page in a browser', () => {
  let browser: Browser;
  let page: Page;
  /** What the page has logged as wrong, and its requests to other hosts. */
  let complaints: string[];

  beforeAll(async () => {
    // Chromium's own sandbox does not run as root, as in a container.
    browser = await chromium.launch({
      executablePath: chromiumPath ?? '',
      args: ['--no-sandbox'],
    });
  });

  afterAll(() => browser?.close());

  const open = async (address: string) => {
    complaints = [];
    page = await browser.newPage({ viewport: { width: 960, height: 1_000 } });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(address).origin)) complaints.push(request.url());
    });
    await page.goto(address);
    await page.locator('.opblock').first().waitFor();
  };

  const expectOperations = async () => {
    const shown = await Promise.all(
      operations.map(async ({ name }) => {
        const block = page.locator(`#operations-pets-${name}`);
        return {
          method: await block.locator('.opblock-summary-method').textContent(),
          path: await block.locator('[data-path]').getAttribute('data-path'),
          isDeprecated: (await block.getAttribute('class'))?.includes('deprecated'),
        };
      }),
    );
    expect(shown).toEqual(
      operations.map(({ method, path, deprecation }) => ({
        method,
        path,
        isDeprecated: deprecation !== undefined,
      })),
    );
    expect(await page.locator('.opblock').count()).toBe(operations.length);
  };

  it('lists every operation and marks getPet as deprecated, without an error or a foreign request', async () => {
    await open(`${origin}/docs`);
    await expectOperations();
    expect(complaints).toEqual([]);
  });

  it('lists pets at a click, with the key of this machine', async () => {
    for (const name of ['Rex', 'Mia']) {
      await sendTo(inject('baseAddress'), {
        method: 'POST',
        path: '/pets',
        headers: [
          ['Authorization', `Bearer ${apiKey}`],
          ['Content-Type', 'application/json'],
        ],
        body: JSON.stringify({ name, categoryId: 1 }),
      });
    }
    await open(`${origin}/docs`);
    const listPets = page.locator('#operations-pets-listPets');
    await listPets.locator('.opblock-summary-control').click();
    await listPets.getByPlaceholder('limit').fill('5');
    await listPets.locator('[data-param-name=status] select').selectOption('available');
    const answered = page.waitForResponse(`${origin}/v1/pets?limit=5&status=available`);
    await listPets.getByRole('button', { name: 'Execute' }).click();
    const pets = await (await answered).json();
    expect(bodyMismatches('Pets', pets)).toEqual([]);
    expect(pets.length).toBeGreaterThanOrEqual(2);
    const shown = listPets.locator('.live-responses-table');
    await expect(shown.locator('.response-col_status').last().textContent()).resolves.toMatch(
      /^200/,
    );
    const body = await shown.locator('.microlight').first().textContent();
    expect(JSON.parse(`${body}`)).toEqual(pets);
    expect(complaints).toEqual([]);

    await photograph(listPets, process.env['SCREENSHOT'] ?? '.build/reference-page.png');
  });

  it('works on any static host as npm run docs writes it, without a key', async () => {
    const directory = join(projectDirectory, '.build', 'docs');
    execFileSync(process.execPath, ['infra/commands/docs.ts'], { cwd: projectDirectory });
    for (const name of await readdir(directory)) {
      expect(await readFile(join(directory, name), 'utf8')).not.toContain(apiKey);
    }
    const host = createServer(async ({ url = '/' }, response) => {
      const file = join(directory, url.endsWith('/') ? 'index.html' : url.replace('/deep/', ''));
      response.end(await readFile(file));
    }).listen(0, '127.0.0.1');
    try {
      await once(host, 'listening');
      const address = host.address();
      await open(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/deep/`);
      await expectOperations();
      expect(complaints).toEqual([]);
    } finally {
      host.closeAllConnections();
      host.close();
    }
  });
});

it('npm run docs distributes the licences of the reference page', async () => {
  execFileSync(process.execPath, ['infra/commands/docs.ts'], { cwd: projectDirectory });
  for (const [name, text] of [
    ['LICENSE', 'Apache License'],
    ['NOTICE', 'SmartBear'],
    ['swagger-ui-bundle.js.LICENSE.txt', '@license'],
  ] as const) {
    const path = join(projectDirectory, '.build', 'docs', name);
    expect(await readFile(path, 'utf8')).toContain(text);
  }
});

describe('the reference page of npm start', () => {
  const statusFor = async (path: string, host: string) => {
    const request = get(`${origin}${path}`, { headers: { host } });
    const [response]: IncomingMessage[] = await once(request, 'response');
    response?.resume();
    return response?.statusCode;
  };

  const { host, port } = new URL(origin);

  it.each([
    // It holds the key, so only this machine gets it.
    [200, '/docs/', host],
    [200, '/docs/', `localhost:${port}`],
    [403, '/docs/', 'rebound.example'],
    [403, '/docs/', '127.0.0.1.example'],
    [308, '/docs', host],
    [200, '/docs/openapi.json', host],
    [403, '/docs/../package.json', host],
    [403, '/docs/package.json', host],
  ])('responds with %i to GET %s for the host %s', async (status, path, askedHost) => {
    expect(await statusFor(path, askedHost)).toBe(status);
  });

  it('sends requests to this service first', async () => {
    const document = await (await fetch(`${origin}/docs/openapi.json`)).text();
    expect(JSON.parse(document).servers[0].url).toBe('/v1');
    expect(document).toContain('"maximum": 9223372036854775807');
  });
});
