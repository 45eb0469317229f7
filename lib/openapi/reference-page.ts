import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const contractPath = join(import.meta.dirname, '../contract/openapi.json');
const scalarPath = join(
  import.meta.dirname,
  '../../node_modules/@scalar/api-reference/dist/browser/standalone.js',
);

/** The local service, to which the page sends requests. */
interface PageService {
  readonly baseAddress: string;
}

type ReadFile = (service?: PageService) => Promise<string | Buffer>;

/**
 * The files of the reference page: Scalar with the contract and the guides. They link only to each other, so
 * any address can serve them. They contain no API key.
 */
export const pageFiles: Readonly<Record<string, ReadFile>> = {
  'index.html': () => readPart('reference-page.html'),
  'page.js': () => readPart('reference-page.js'),
  'options.json': async (service) => JSON.stringify(await options(service)),
  'scalar.js': () => readFile(scalarPath),
  'reference.json': (service) => referenceDocument(service),
  'openapi.json': () => readFile(contractPath),
  'example.py': () => readPart('examples/example.py'),
  'example.go': () => readPart('examples/example.go'),
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

/** Leaves out the bounds of int64, because JavaScript would round them. The page still shows the format. */
const showable = (key: string, value: unknown) =>
  /^(minimum|maximum)$/.test(key) && !Number.isSafeInteger(value) ? undefined : value;

/** The contract, as far as the page reads it. */
interface Contract {
  readonly info: { readonly description: string };
  readonly tags: readonly object[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
}
interface DocumentedOperation {
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly responses: Record<string, { readonly description: string }>;
}

const readContract = async (): Promise<Contract> =>
  JSON.parse(await readFile(contractPath, 'utf8'));

/** Every error of the contract by its code, in order of status. */
const errorGuides = ({ paths }: Contract) => {
  const documented = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ responses }) => Object.entries(responses))
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) =>
      // Errors of one status are described in paragraphs.
      description.split('\n\n').map((error) => `${status} ${error}`),
    );
  return [...new Set(documented)].sort().map((error) => {
    const [, status = '', name = '', description = ''] = /^(\d+) `(\w+)`: (.*)$/s.exec(error) ?? [];
    return { status, name, 'x-displayName': `${status} ${name}`, description };
  });
};

const errorList = (contract: Contract) =>
  errorGuides(contract)
    .map(({ status, name }) => `- ${status} [\`${name}\`](#tag/${name.replaceAll('_', '-')})`)
    .join('\n');

/** Links each operation of the contract, with its purpose. */
const operationList = ({ paths }: Contract) =>
  Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, { summary, deprecated }]) => {
        const request = `${method.toUpperCase()} ${path}`;
        const link = `[\`${request}\`](#tag/pets/${request.replace(' ', '')})`;
        const purpose = summary.charAt(0).toLowerCase() + summary.slice(1);
        return `- ${link}: ${purpose}${deprecated ? ' (deprecated)' : ''}`;
      }),
    )
    .join('\n');

/** The limits that the contract has at the end of its introduction. */
const limitsOf = ({ info }: Contract) => info.description.split('## Limits\n\n')[1] ?? '';

const readGuide = async (contract: Contract, file: string) => {
  const [heading = '', ...lines] = (await readPart(`guides/${file}.md`)).split('\n');
  const description = lines
    .join('\n')
    .replace('<!-- errors -->', () => errorList(contract))
    .replace('<!-- limits -->', () => limitsOf(contract))
    .replace('<!-- operations -->', () => operationList(contract));
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
const referenceDocument = async (service: PageService | undefined): Promise<string> => {
  const contract = await readContract();
  const guide = await readGuide(contract, 'introduction');
  const description = service ? withLocalService(guide.description, service) : guide.description;
  const guides = await Promise.all(guideNames.map((file) => readGuide(contract, file)));
  const errors = errorGuides(contract);
  const shown = {
    ...contract,
    info: { ...contract.info, description },
    tags: [...contract.tags, ...guides, ...errors],
    'x-tagGroups': [
      { name: 'Operations', tags: ['pets'] },
      { name: 'Guides', tags: guides.map(({ name }) => name) },
      { name: 'Error codes', tags: errors.map(({ name }) => name) },
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
