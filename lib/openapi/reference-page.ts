import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import * as v from 'valibot';
import { errorDescriptions } from '../contract/errors.ts';
import { isRecord } from '../contract/is-record.ts';
import { detailsOf, operations, tags } from '../operations/operations.ts';
import { documentedErrors, tagOf } from './paths.ts';

const contractPath = join(import.meta.dirname, '../contract/openapi.json');
// Its module contains Scalar as a string. `@scalar/api-reference` has a file, but brings 248 packages more.
const scalarPlugin = join(
  import.meta.dirname,
  '../../node_modules/@scalar/fastify-api-reference/dist/index.js',
);

/** The local service, to which the page sends requests. */
interface PageService {
  readonly baseAddress: string;
}

type ReadFile = (service?: PageService) => Promise<string | Buffer>;

/**
 * Returns the files of the reference page: Scalar with the contract and the guides. They link only to each
 * other, so any address can serve them. They contain no API key. `limits` are those that clients can reach,
 * as Markdown.
 */
export const pageFiles = (limits: string): Readonly<Record<string, ReadFile>> => ({
  'index.html': () => readPart('reference-page.html'),
  'page.js': () => readPart('reference-page.js'),
  'options.json': async (service) => JSON.stringify(await options(service)),
  'scalar.js': scalar,
  'reference.json': (service) => referenceDocument(limits, service),
  'openapi.json': () => readFile(contractPath),
});

/**
 * Returns Scalar without the name of its source map, for which developer tools would ask. Throws if an update
 * of the plugin contains it in another way.
 */
const scalar = async () => {
  const plugin = await readFile(scalarPlugin, 'utf8');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(plugin) ?? [];
  if (!literal) throw new Error(`${scalarPlugin} does not contain Scalar as expected`);
  const script: string = runInNewContext(literal);
  return script.replace(/^\/\/# sourceMappingURL=.*$/m, '');
};

const readPart = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');

const guideNames = [
  'get-a-key',
  'errors',
  'paging',
  'idempotency',
  'limits',
  'versions',
  'other-tools',
];

/**
 * Leaves out the bounds of int64, because JavaScript would round them, and the example of a cursor, because
 * the page would send it by default, and not get the first page.
 */
const showable = (key: string, value: unknown) => {
  if (/^(minimum|maximum)$/.test(key) && !Number.isSafeInteger(value)) return undefined;
  return isRecord(value) && value['name'] === 'cursor' ? { ...value, example: undefined } : value;
};

/** The schema of the contract, as far as the page reads it. */
const Contract = v.looseObject({ info: v.looseObject({}), tags: v.array(v.looseObject({})) });

const allErrors = documentedErrors();

/** The section of each error code. */
const errorSections = allErrors.map(({ status, code }) => ({
  name: code,
  'x-displayName': `${status} ${code}`,
  description: errorDescriptions[code],
}));

const errorList = allErrors
  .map(({ status, code }) => `- ${status} [\`${code}\`](#tag/${code.replaceAll('_', '-')})`)
  .join('\n');

/** Links each operation, with its purpose. */
const operationList = operations
  .map((operation) => {
    const { name, method, path, deprecation } = operation;
    const { summary } = detailsOf(name);
    const link = `[\`${method} ${path}\`](#tag/${tagOf(operation)}/${method}${path})`;
    const purpose = summary.charAt(0).toLowerCase() + summary.slice(1);
    return `- ${link}: ${purpose}${deprecation ? ' (deprecated)' : ''}`;
  })
  .join('\n');

const readGuide = async (file: string, limits: string) => {
  const [heading = '', ...lines] = (await readPart(`guides/${file}.md`)).split('\n');
  const description = lines
    .join('\n')
    .replace('<!-- errors -->', () => errorList)
    .replace('<!-- limits -->', () => limits)
    .replace('<!-- operations -->', () => operationList);
  return { name: heading.replace('# ', ''), description };
};

/** The first call with the address and the key of the local service. */
const withLocalService = (text: string, { baseAddress }: PageService) =>
  text
    .replace(/(?<=BASE_URL=)'.*'/, `'${baseAddress}'`)
    .replace(/(?<=API_KEY=)'.*'/, '"$(cat .local/api-key)"');

/**
 * Returns the document that the page shows: the contract with an introduction for people,
 * and the guides as sections.
 */
const referenceDocument = async (limits: string, service?: PageService): Promise<string> => {
  const contract = v.parse(Contract, JSON.parse(await readFile(contractPath, 'utf8')));
  const guide = await readGuide('introduction', limits);
  const description = service ? withLocalService(guide.description, service) : guide.description;
  const guides = await Promise.all(guideNames.map((file) => readGuide(file, limits)));
  const shown = {
    ...contract,
    info: { ...contract.info, description },
    tags: [...contract.tags, ...guides, ...errorSections],
    'x-tagGroups': [
      { name: 'Operations', tags: Object.keys(tags) },
      { name: 'Guides', tags: guides.map(({ name }) => name) },
      { name: 'Error codes', tags: errorSections.map(({ name }) => name) },
    ],
  };
  return JSON.stringify(shown, showable);
};

/**
 * Returns Scalar's options (its documentation/configuration.md). Only its reader makes the page send
 * requests.
 */
const options = async (service: PageService | undefined) => ({
  url: 'reference.json',
  ...(service && {
    servers: [
      { url: service.baseAddress, description: 'This machine. The API key is in .local/api-key.' },
    ],
  }),
  customCss: await readPart('reference-page.css'),
  defaultOpenAllTags: true,
  // Scalar's download would round the bounds of int64.
  documentDownloadType: 'none',
  hiddenClients: true,
  hideClientButton: true,
  hideModels: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
});
