import { headers } from './headers.ts';
import { paths } from './operations.ts';
import { bodySchemas } from './schemas.ts';

const server = (description: string, host: string) => ({
  url: 'https://{host}/v1',
  description,
  variables: {
    host: { default: host, description: 'The host of the base address that you were given.' },
  },
});

const introduction = `Send an API key with every request: \`Authorization: Bearer <API key>\`. The operator of the service issues it.

- \`int64\` integers have 64 bits: use a JSON reader that keeps them.
- A query parameter or field that is not listed here, or a repeated parameter, gets 400.
- Every error has the body of the schema Error. Paths that are not listed here get 404.
- Responses may get more fields, headers and error codes: ignore those that you do not know.`;

/** The OpenAPI 3.1 document of the service, from the operations, schemas and errors that the functions use. */
export const openapiDocument = () => ({
  openapi: '3.1.1',
  info: {
    title: 'Animal store',
    version: '1.0.0',
    summary: 'The catalogue of an animal store: list animals, add one, get one.',
    description: introduction,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [
    server('Production', 'animal-store.example'),
    server('Staging', 'staging.animal-store.example'),
  ],
  security: [{ apiKey: [] }],
  tags: [{ name: 'pets', description: 'The animals of the store.' }],
  paths: paths(),
  components: {
    schemas: bodySchemas,
    headers,
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key, such as `pets_live_…` for production or `pets_test_…` for staging.',
      },
    },
  },
});
