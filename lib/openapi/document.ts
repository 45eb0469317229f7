import { apiVersion } from '../contract/api-version.ts';
import { exactReplacer } from '../contract/exact-json.ts';
import { tags } from '../operations/operations.ts';
import { headers } from './headers.ts';
import { paths } from './paths.ts';
import { componentSchemas } from './schemas.ts';

/**
 * Describes a server whose host the reader fills in. The default hosts are examples until you set them here.
 * They can't follow from the stages: without a custom domain, AWS chooses a host when the stage is deployed.
 */
const server = (description: string, host: string) => ({
  url: `https://{host}/${apiVersion}`,
  description: `${description}. Replace the host by that of the base address that you were given.`,
  'x-internal': false,
  variables: { host: { default: host } },
});

const introduction = `Send an API key with every request, as \`Authorization: Bearer <API key>\`. The operator of the service issues keys.

- Integers of the format \`int64\` have 64 bits, so use a JSON parser that keeps every digit.
- A repeated or unknown query parameter, or an unknown field, gets 400. If a body repeats a field, its last value counts.
- Every error of the service has the schema Error. Unknown paths get 404.
- Headers over the limit below, a body over 10 MB and a path outside the base address are refused by AWS, before they reach the service. These responses have another body.
- Fields, headers, statuses and error codes may be added to responses, so accept those that you do not know.`;

/**
 * The title, version and license of the contract. The package of `npm run client` has the
 * same version and license.
 */
export const info = {
  title: 'Animal store',
  version: '1.0.0',
  summary: 'The catalogue of an animal store.',
  description: introduction,
  contact: { name: 'Operator of the animal store', email: 'operator@animal-store.example' },
  license: { name: 'MIT', identifier: 'MIT' },
};

const document = (limits: string) => ({
  openapi: '3.1.1',
  info: { ...info, description: `${info.description}\n\n## Limits\n\n${limits}` },
  servers: [
    server('Production', 'animal-store.example'),
    server('For tests', 'staging.animal-store.example'),
  ],
  security: [{ apiKey: [] }],
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  paths: paths(),
  components: {
    schemas: componentSchemas,
    headers,
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key: `pets_live_…` for production, `pets_test_…` for tests.',
      },
    },
  },
});

/**
 * The text of the OpenAPI 3.1 document, from the operations, schemas and errors that the functions use.
 * `limits` are those that clients can reach, as Markdown.
 */
export const openapiText = (limits: string): string =>
  `${JSON.stringify(document(limits), exactReplacer, 2)}\n`;
