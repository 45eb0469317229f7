import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDirectory } from '../project-directory.ts';
import { describedErrors, whenOf } from './errors.ts';

const scalar = join(projectDirectory, 'node_modules', '@scalar', 'api-reference');
const contract = join(projectDirectory, 'lib', 'contract', 'openapi.json');

/** The files of the reference page. They refer only to each other, so they work at any address. */
export const pageFiles = ['index.html', 'openapi.json', 'reference.json', 'scalar.js'] as const;
export type PageFile = (typeof pageFiles)[number];

/** The service that a page sends its requests to. */
export interface PageService {
  readonly baseAddress: string;
  readonly apiKey: string;
}

/** A file of the reference page: Scalar with the contract and the guides. The page of a service holds its API key. */
export const pageFile = async (name: PageFile, service?: PageService): Promise<string | Buffer> => {
  switch (name) {
    case 'index.html':
      return html(service);
    case 'openapi.json':
      return readFile(contract);
    case 'reference.json':
      return JSON.stringify(await referenceDocument(), showable);
    case 'scalar.js':
      return readFile(join(scalar, 'dist', 'browser', 'standalone.js'));
  }
};

const guideNames = ['get-a-key', 'errors', 'paging', 'idempotency', 'versions', 'requests'];

const readGuide = async (name: string) => {
  const text = await readFile(join(import.meta.dirname, 'guides', `${name}.md`), 'utf8');
  const [heading = '', ...lines] = text.split('\n');
  return { name: heading.replace('# ', ''), description: lines.join('\n') };
};

const errorList = describedErrors
  .map((error) => `- ${error.status} \`${error.code}\`: ${whenOf(error)}`)
  .join('\n');

interface Contract {
  readonly info: object;
  readonly tags: readonly object[];
}

/**
 * Leaves out what Scalar would show wrongly: the bounds of int64, which it rounds, and the examples of a schema, which
 * it turns into a menu without any other value.
 */
const showable = (key: string, value: unknown) => {
  const isRounded = /^(minimum|maximum)$/.test(key) && !Number.isSafeInteger(value);
  return isRounded || (key === 'examples' && Array.isArray(value)) ? undefined : value;
};

/** What the page shows: the contract, with an introduction for people and the guides as sections. */
const referenceDocument = async () => {
  const document: Contract = JSON.parse(await readFile(contract, 'utf8'));
  const { description } = await readGuide('introduction');
  const guides = await Promise.all(guideNames.map(readGuide));
  return {
    ...document,
    info: { ...document.info, description },
    tags: [
      ...document.tags,
      ...guides.map((guide) => ({
        ...guide,
        description: guide.description.replace('<!-- errors -->', errorList),
      })),
    ],
    'x-tagGroups': [
      { name: 'Operations', tags: ['pets'] },
      { name: 'Guides', tags: guides.map(({ name }) => name) },
    ],
  };
};

/** Options of https://github.com/scalar/scalar/blob/main/documentation/configuration.md: nothing leaves the page's origin but the requests of its reader. */
const configuration = async (service: PageService | undefined) => ({
  url: 'reference.json',
  ...(service && {
    servers: [{ url: service.baseAddress, description: 'This machine' }],
    authentication: { securitySchemes: { apiKey: { token: service.apiKey } } },
  }),
  customCss: await readFile(join(import.meta.dirname, 'reference-page.css'), 'utf8'),
  defaultOpenAllTags: true,
  // Its own download would round the bounds of int64.
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

const html = async (service: PageService | undefined) => {
  const options = JSON.stringify(await configuration(service)).replaceAll('<', '\\u003c');
  const script = `Scalar.createApiReference('#page', ${options});`;
  const hash = createHash('sha256').update(script).digest('base64');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self' https:">
    <title>Animal store</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="page"></div>
    <script src="scalar.js"></script>
    <script>${script}</script>
  </body>
</html>
`;
};
