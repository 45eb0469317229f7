import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { findProgram } from '../support/find-program.ts';
import { shared } from '../support/shared.ts';

const baseAddress = shared('baseAddress');
const apiKey = shared('apiKey');

const chromiumPath = findProgram(['chromium', 'google-chrome']);
if (!chromiumPath) console.info('No browser opens the reference page: there is no Chromium here.');

const built = join(projectDirectory, '.build', 'docs');
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

describe.skipIf(!chromiumPath)('the reference page in a browser', () => {
  let browser: Browser;
  let page: Page;
  /** Errors and warnings of the page, and its requests to other hosts. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: chromiumPath ?? '',
      // Chromium's sandbox does not run as root, as in a container.
      args: ['--no-sandbox', '--host-resolver-rules=MAP intranet.test 127.0.0.1'],
    });
  });
  afterAll(() => browser?.close());

  const open = async (address: string) => {
    complaints = [];
    page = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(address).origin)) complaints.push(request.url());
    });
    // A static host with the files that npm run docs built.
    await page.route('https://static.example/deep/*', (route) =>
      route.fulfill({
        path: join(built, basename(route.request().url()).replace(/^deep$/, 'index.html')),
      }),
    );
    await page.goto(address);
    await page.getByRole('heading', { name: 'Versions and deprecation' }).waitFor();
  };

  const sidebar = () => page.getByRole('complementary');

  describe('of npm start', () => {
    // Not a secure context, so that the page uses nothing that browsers have only on https and localhost.
    const docsAddress = shared('docsAddress').replace('127.0.0.1', 'intranet.test');
    beforeAll(() => open(docsAddress));
    afterAll(() => page.close());

    it('shows operations, the authentication and first calls on its first screen', async () => {
      const introduction = page.getByRole('region', { name: 'Introduction' });
      for (const locator of [
        // The list of operations grows, so it may go on below.
        introduction.getByText('GET /pets'),
        introduction.getByRole('textbox', { name: 'Bearer Token' }),
        introduction.getByText('curl "$BASE_URL/pets?limit=1"'),
        introduction.getByText('store.listPetsPage({ limit: 1 })'),
      ]) {
        const { y, height } = (await locator.first().boundingBox()) ?? { y: 0, height: Infinity };
        expect(y + height).toBeLessThan(800);
      }
      // With `SCREENSHOTS=.github`, this is the picture of README.md.
      await page.screenshot({
        path: join(process.env['SCREENSHOTS'] ?? built, 'reference-page.png'),
      });
    });

    /** Opens the request of an operation as the page fills it in. */
    const openRequest = async (operation: string) => {
      await sidebar().getByRole('link', { name: operation }).click();
      const section = page.getByRole('region', { name: operation, exact: true });
      await section.getByRole('button', { name: /^Test Request/ }).click();
    };

    const send = async () => {
      const response = page.waitForResponse(/\/v1\/pets/);
      await page.getByRole('button', { name: /^Send \w+ request/ }).click();
      return response;
    };

    it('sends a new Idempotency-Key with each creation, or the one that its reader writes', async () => {
      await openRequest('Add an animal');
      const [first, second] = [await send(), await send()];
      const header = page.getByRole('row', { name: 'Include Idempotency-Key in request' });
      await header.getByRole('combobox', { name: 'Value' }).fill('of-the-reader');
      const [third, fourth] = [await send(), await send()];
      const keys = [first, second, third, fourth].map(
        (response) => response.request().headers()['idempotency-key'],
      );
      expect(keys).toEqual([
        expect.stringMatching(/^[\w-]+$/),
        expect.stringMatching(/^[\w-]+$/),
        'of-the-reader',
        'of-the-reader',
      ]);
      const [idOfFirst, idOfSecond, idOfThird, idOfFourth] = await Promise.all(
        [first, second, third, fourth].map(async (response) => (await response.json()).id),
      );
      expect(new Set([idOfFirst, idOfSecond, idOfThird]).size).toBe(3);
      expect(idOfFourth).toBe(idOfThird);
      await page.getByRole('button', { name: 'Close Client' }).click();
    });

    it('shows a 64-bit integer of a response as it was sent', async () => {
      const store = new AnimalStore({ baseAddress, apiKey });
      const { id } = await store.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n });
      await openRequest('Get an animal');
      const parameter = page.getByRole('row', { name: 'Include petId in request' });
      await parameter.getByRole('combobox', { name: 'Value' }).fill(`${id}`);
      await send();
      const response = page.getByRole('dialog').getByRole('region', { name: 'Response' });
      await response.getByText('"categoryId": 9223372036854775807').waitFor();
    });

    const keyField = () => page.getByRole('textbox', { name: 'Bearer Token' }).first();

    it('keeps the key when it is loaded again, and out of its address', async () => {
      expect(page.url()).not.toContain(apiKey);
      await page.reload();
      await expect.poll(() => keyField().inputValue(), { timeout: 30_000 }).toBe(apiKey);
    });

    it('gets no error, and requests nothing from elsewhere', () => {
      expect(complaints).toEqual([]);
    });

    it('links the contract when there is no JavaScript', async () => {
      const plain = await browser.newPage({ javaScriptEnabled: false });
      await plain.goto(docsAddress);
      await plain.getByRole('link', { name: 'openapi.json' }).click();
      expect(await plain.textContent('body')).toContain('"openapi": "3.1.1"');
      await plain.close();
    });

    it('asks for a key when its address has none', async () => {
      await page.close();
      await open(docsAddress.replace(/#.*/, ''));
      expect(await keyField().inputValue()).toBe('');
      await keyField().fill(apiKey);
      await openRequest('List animals');
      const first = await send();
      expect(first.status()).toBe(200);
      expect(first.url()).not.toContain('cursor');
    });
  });

  describe('of a static host', () => {
    beforeAll(async () => {
      execFileSync(process.execPath, ['infra/commands/docs.ts'], { cwd: projectDirectory });
      await open('https://static.example/deep/');
      // A section is rendered when it is first seen.
      for (const link of await sidebar().locator('a[href^="#"]').all()) await link.click();
      await page.evaluate(readFileSync(axe, 'utf8'));
    });

    it.each(['404', 'not_found'])('finds an error from the keyboard: %s', async (words) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(words);
      await page.getByRole('option', { name: '404 not_found' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.url()).toMatch(/#tag\/not-found$/);
    });

    it.each([
      ['dark', 1_200],
      ['dark', 390],
      ['light', 390],
      ['light', 1_600],
      ['light', 1_200],
    ])('breaks no rule of axe-core and cuts nothing off, %s at %i px', async (scheme, width) => {
      const toggle = page.getByRole('button', { name: `Set ${scheme} mode` });
      if (await toggle.isVisible()) await toggle.click();
      await page.setViewportSize({ width, height: 800 });
      const found = await page.evaluate<object>(
        `axe.run().then(({ violations }) => ({
          violations: violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
          scrollWidth: document.documentElement.scrollWidth,
          cutOff: [...document.querySelectorAll('.tab-list, .code-snippet > div > div')]
            .filter(({ clientWidth, scrollWidth }) => clientWidth < scrollWidth)
            .map(({ textContent }) => textContent),
        }))`,
      );
      expect(found).toEqual({ violations: [], scrollWidth: width, cutOff: [] });
    });

    it('shows samples, statuses, defaults, examples and patterns to a reader who does not hover', async () => {
      for (const place of [
        '.tab-list',
        '.code-snippet > div > div',
        '.property-default-value',
        '.property-example-value',
        '.property-pattern-value',
      ]) {
        const shown = await page.locator(place).all();
        expect(shown.length, place).toBeGreaterThan(1);
        for (const each of shown) expect(await each.isVisible(), place).toBe(true);
      }
    });

    it('shows one description of a parameter', async () => {
      const section = page.getByRole('region', { name: 'List animals', exact: true });
      await section.getByText('Returns only animals with this status.').waitFor();
      expect(await section.getByText('Availability of the animal.').first().isVisible()).toBe(
        false,
      );
    });

    it('gets no error, and requests nothing from elsewhere', () => {
      expect(complaints).toEqual([]);
    });
  });
});
