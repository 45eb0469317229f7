import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { clientPackage } from '../../infra/settings/owner.ts';
import { errorDescriptions } from '../../lib/contract/errors.ts';
import { codeSamples } from '../../lib/openapi/code-samples.ts';
import { definition as createPet } from '../../lib/operations/create-pet.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import { exampleOf } from '../support/events.ts';
import { pythonTool } from '../support/python-tool.ts';
import { shared } from '../support/shared.ts';
import { putIntoShared } from '../support/test-tables.ts';

const baseAddress = shared('baseAddress');
const apiKey = shared('apiKey');
const { origin } = new URL(baseAddress);

const run = async (command: string, ...options: string[]) => {
  const env = { ...process.env, BASE_URL: baseAddress, API_KEY: apiKey };
  const { stdout } = await promisify(execFile)(command, options, { cwd: projectDirectory, env });
  return stdout;
};

interface Section {
  readonly name?: string;
  readonly description: string;
}

/** The id in the code samples here: another test sends the examples of the contract at the same time. */
const sampleId = 271_828;

const samples = operations.flatMap((operation) => {
  const { request, clientCall } = detailsOf(operation.name).example;
  const [exampleId = sampleId] = Object.values(request.path ?? {});
  return codeSamples(operation, request, clientCall).map(({ lang, source }) => ({
    ...{ name: operation.name, operation, lang },
    source: source.replaceAll(`${exampleId}`, `${sampleId}`),
  }));
});

const creation = samples.find(({ name }) => name === 'createPet')?.source;
const create = () => run('sh', '-c', `${creation}`);

beforeAll(async () => {
  // A page of one pet has a next page.
  await create();
  await create();
});

/** A response without what differs between two requests: ids, cursors, and the pets of a list. */
const comparable = (response: string) =>
  response
    .replace(/\[\{"id":.*\}\]/s, '[pets]')
    .replace(/"id":\d+/, '"id":0')
    .replace(/cursor=[\w-]+/, 'cursor=0')
    .replaceAll('\r', '')
    .trim();

describe('the guides of the reference page', () => {
  const paths = globSync('lib/openapi/guides/*.md', {
    cwd: projectDirectory,
    // It has no request.
    exclude: ['**/other-tools.md'],
  });

  it.each(paths.map((path) => [basename(path), path]))(
    'show the responses that the service gives: %s',
    async (_name, path) => {
      const text = readFileSync(join(projectDirectory, path), 'utf8');
      const examples = [
        ...text.matchAll(/^```sh\n(.*?)\n```\n\n(?:.*?\n\n)??```\w+\n(.*?)\n```/gms),
      ];
      expect(examples.length).toBeGreaterThan(0);
      // One shell, because a request can use a variable of the one before.
      const script = examples.map(([, request = '']) => request.replace(/^export .*\n/gm, ''));
      const responses = (await run('sh', '-c', script.join('\necho; echo -----\n'))).split('-----');
      expect(responses.map(comparable)).toEqual(
        examples.map(([, , response = '']) => comparable(response)),
      );
    },
  );
});

// Schemathesis brings the module requests.
const python = pythonTool('schemathesis')?.replace(/schemathesis$/, 'python');
if (!python)
  console.info('No code sample in Python is run: .ci/python-tools installs what they need.');

/** The command that runs a code sample, by its language. */
const commands: Readonly<Record<string, readonly string[]>> = {
  sh: ['sh', '-c'],
  typescript: [process.execPath, '--input-type=module-typescript', '--eval'],
  python: [`${python}`, '-c'],
};

describe('the code samples', () => {
  it.each(samples.filter(({ lang }) => lang !== 'python' || python))(
    'of $name run: $lang',
    async ({ operation, lang, source }) => {
      await putIntoShared(exampleOf(operation, sampleId).items);
      const [command = '', ...options] = commands[lang] ?? [];
      const client = join(projectDirectory, 'lib/client/animal-store.ts');
      const printed = await run(command, ...options, source.replace(clientPackage, client));
      expect(printed).toMatch(operation.successStatus === 204 ? /^$/ : /\d/);
      expect(printed).not.toMatch(/\bcode'?"?:/);
    },
  );
});

it('a code sample can have an apostrophe and a boolean, and sends an Idempotency-Key', async () => {
  const body = { name: "O'Malley", categoryId: 1, vaccinated: true };
  const [curl, , python] = codeSamples(createPet, { body }, '');
  for (const each of [curl, python])
    expect(each?.source).toMatch(/Idempotency-Key"?: (\$key"|key)/);
  const echo = `curl() { while [ "$1" != -d ]; do shift; done; echo "$2"; }\n${curl?.source}`;
  expect(JSON.parse(await run('sh', '-c', echo))).toEqual(body);
  expect(python?.source).toContain('{"name": "O\'Malley", "categoryId": 1, "vaccinated": True}');
});

it('npm run docs builds a page with the licence of Scalar and without an API key', () => {
  execFileSync(process.execPath, ['infra/commands/docs.ts'], { cwd: projectDirectory });
  const built = join(projectDirectory, '.build', 'docs');
  expect(readFileSync(join(built, 'LICENSE.txt'), 'utf8')).toContain('Scalar');
  for (const name of readdirSync(built)) {
    expect(readFileSync(join(built, name), 'utf8')).not.toContain(apiKey);
  }
});

describe('the reference page of npm start', () => {
  it.each([
    [200, '/docs/'],
    [302, '/docs'],
    [403, '/docs/../package.json'],
    [403, '/docs/package.json'],
  ])('responds with %i to GET %s', async (status, path) => {
    const [response]: IncomingMessage[] = await once(get(origin, { path }), 'response');
    expect(response?.resume().statusCode).toBe(status);
  });

  it('has a section for each error code, and for each link', async () => {
    const response = await fetch(`${origin}/docs/reference.json`);
    const document: { info: Section; tags: Section[] } = JSON.parse(await response.text());
    const names = document.tags.map(({ name }) => name);
    const reason = 'Name each error in the `errors` of an operation in lib/operations/';
    expect(names, reason).toEqual(expect.arrayContaining(Object.keys(errorDescriptions)));
    for (const [code, description] of Object.entries(errorDescriptions)) {
      expect(document.tags.find(({ name }) => name === code)?.description).toBe(description);
    }
    const anchors = names.map((name) => name?.toLowerCase().replaceAll(/[ _]/g, '-'));
    const texts = [document.info, ...document.tags].map(({ description }) => description);
    const links = [...texts.join().matchAll(/\(#tag\/([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(links).toContain('idempotency');
    for (const link of links) expect(anchors).toContain(link);
  });

  it('shows a first call with its own address and key', async () => {
    const response = await fetch(`${origin}/docs/reference.json`);
    const { info }: { info: Section } = JSON.parse(await response.text());
    expect(info.description).toContain(`export BASE_URL='${baseAddress}'\n`);
    expect(info.description).toContain('export API_KEY="$(cat .local/api-key)"\n');
  });
});
