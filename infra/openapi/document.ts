import { describedErrors, whenOf } from './errors.ts';
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

const introduction = `## API keys

Every request carries an API key as \`Authorization: Bearer <API key>\`. The operator of the service issues it.

## Integers

\`int64\` means all 64 bits: \`categoryId\` keeps every digit, which a reader that takes numbers for doubles does not. \`id\` stays within 2^53, where doubles are exact.

## What a request may hold

A query parameter or a field that is not listed here is refused with 400, and so is a parameter that is given twice.

## HEAD and OPTIONS

HEAD is answered as GET is, without the body. OPTIONS is answered with 204 on every path that is listed here, with and without an API key; its \`Allow\` lists the methods.

## Web pages

Pages of the origins that the operator allows can read every answer and its headers (CORS); requests carry the API key, and no cookies.

## Errors

Every error has the same body, \`{"code", "message", "status"}\`, except a 403 outside the base address, \`{"message":"Forbidden"}\`, which API Gateway sends itself. A path that is not listed here gets 404.

| status | code | when |
|---|---|---|
${describedErrors.map((error) => `| ${error.status} | \`${error.code}\` | ${whenOf(error)} |`).join('\n')}

After 429 and 503 the same request may succeed \`Retry-After\` seconds later. After any 5xx, or no answer at all, an animal may have been added: send the creation again with its \`Idempotency-Key\`.

## Versions

Within \`/v1\` nothing is taken away before its announced sunset. Answers may get more fields, headers and error codes: ignore what you do not know.`;

/** The OpenAPI 3.1 document of the service, from the operations, schemas and errors that the functions run by. */
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
