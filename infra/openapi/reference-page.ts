import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectDirectory } from '../project-directory.ts';
import { stringify } from './stringify.ts';

const documentPath = join(projectDirectory, 'lib', 'contract', 'openapi.json');
const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The files of the reference page. They refer only to each other, so that they work at any address. */
export const pageFiles = [
  'index.html',
  'openapi.json',
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
] as const;
export type PageFile = (typeof pageFiles)[number];

/** What must be distributed with the page: its licence, its notice, and the licences of what it bundles. */
export const licenceFiles = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'].map((name) =>
  join(swaggerUi, name),
);

/** The service that a page is made out to. */
export interface PageService {
  readonly baseAddress: string;
  readonly apiKey: string;
}

/**
 * A file of the reference page: Swagger UI with the project's `openapi.json`. For a service, the page sends its requests
 * there, with its API key.
 */
export const pageFile = async (name: PageFile, service?: PageService): Promise<string | Buffer> => {
  if (name === 'index.html') return html(service?.apiKey);
  if (name === 'openapi.json') return documentFor(service);
  return readFile(join(swaggerUi, name));
};

const documentFor = async (service: PageService | undefined): Promise<string> => {
  const text = await readFile(documentPath, 'utf8');
  if (!service) return text;
  const document: { readonly servers: readonly object[] } = JSON.parse(text);
  const own = { url: service.baseAddress, description: 'This machine' };
  return stringify({ ...document, servers: [own, ...document.servers] });
};

const html = (apiKey = '') => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Animal store</title>
    <link rel="icon" href="favicon-32x32.png">
    <link rel="stylesheet" href="swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script>
      const apiKey = '${apiKey}';
      const page = SwaggerUIBundle({
        url: 'openapi.json',
        dom_id: '#page',
        deepLinking: true,
        displayRequestDuration: true,
        tryItOutEnabled: true,
        // It would send the document's address to swagger.io.
        validatorUrl: null,
        onComplete: () => {
          if (apiKey) page.preauthorizeApiKey('apiKey', apiKey);
        },
      });
    </script>
  </body>
</html>
`;
