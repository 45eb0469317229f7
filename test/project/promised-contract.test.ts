import { expect, it } from 'vitest';
import { create, send } from '../acceptance/client.ts';
import { contractText, mismatches, resolveReferences } from '../support/openapi-document.ts';
import { putIntoShared } from '../support/test-tables.ts';

const int64 = { type: 'integer', format: 'int64' };
const text = { type: 'string' };
const largestId = Number.MAX_SAFE_INTEGER;
const longestKey = '~!"{}'.repeat(51);
const newPets = [
  '{"name":"x","categoryId":9223372036854775807,"status":"pending"}'.padEnd(8_192),
  '{"name":" <Rex> ","categoryId":-9223372036854775808.0,"status":"available"}',
  `{"name":"${'🐶'.repeat(255)}","categoryId":1,"status":"sold"}`,
];
const Pet = {
  type: 'object',
  required: expect.arrayContaining(['id', 'name', 'categoryId']),
  properties: { id: int64, name: text, categoryId: int64, status: text },
};
const ErrorBody = {
  type: 'object',
  required: expect.arrayContaining(['code', 'message', 'status']),
  properties: { code: text, message: text, status: { type: 'integer' } },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

/** A schema that accepts these values, and maybe others. */
const accepting = (...values: readonly unknown[]) =>
  expect.toSatisfy((schema: object) =>
    values.every((value) => mismatches('value', schema, value).length === 0),
  );

/** What clients were promised, written by hand, because all other tests follow the code. */
const promised = {
  all: {
    servers: [{ url: 'https://{host}/v1' }, { url: 'https://{host}/v1' }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  },
  operations: {
    'get /pets': {
      operationId: 'listPets',
      security: [{ apiKey: [] }],
      requiredParameters: [],
      parameters: {
        'query limit': accepting(1, 100),
        'query status': accepting('available', 'pending', 'sold'),
        'query cursor': text,
      },
      responses: { 200: json({ type: 'array', items: Pet }), 401: json(ErrorBody) },
    },
    'post /pets': {
      operationId: 'createPet',
      security: [{ apiKey: [] }],
      requiredParameters: [],
      parameters: { 'header Idempotency-Key': accepting('!', longestKey) },
      requestBody: json(accepting(...newPets.map((each) => JSON.parse(each)))),
      responses: { 201: json(Pet), 400: json(ErrorBody), 401: json(ErrorBody) },
    },
    'get /pets/{petId}': {
      operationId: 'getPet',
      security: [{ apiKey: [] }],
      deprecated: true,
      'x-sunset': '2030-12-05',
      requiredParameters: ['path petId'],
      parameters: { 'path petId': accepting(1, largestId) },
      responses: { 200: json(Pet), 401: json(ErrorBody), 404: json(ErrorBody) },
    },
  },
};

const breaking =
  'This change breaks clients of /v1. A limit may only get wider, and a new field or parameter of a request is optional. ' +
  'Take the change back, or offer it at a new base path, such as /v2.';

interface Operation {
  readonly security?: unknown;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: object;
  }[];
}
const document = JSON.parse(contractText);
const paths: Record<string, Record<string, Operation>> = Object(resolveReferences(document.paths));

/** An operation with its parameters by place and name, and the security that all operations have. */
const documented = ({ parameters = [], ...operation }: Operation) => {
  const named = parameters.map((each) => ({ ...each, name: `${each.in} ${each.name}` }));
  return {
    security: document.security,
    ...operation,
    requiredParameters: named.filter(({ required }) => required).map(({ name }) => name),
    parameters: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
  };
};

it.each(Object.entries(promised.operations))(
  '%s is what clients were promised',
  (route, expected) => {
    const [method = '', path = ''] = route.split(' ');
    const operation = documented(paths[path]?.[method] ?? {});
    expect(operation, breaking).toMatchObject(expected);
  },
);

it('the base path and the API key are what clients were promised', () => {
  expect(document, breaking).toMatchObject(promised.all);
});

it('the service accepts what clients were promised', async () => {
  const id = largestId - 1;
  await putIntoShared({ PetsTable: [{ id, name: 'Rex', categoryId: 1, status: 'sold' }] });
  const queries = ['limit=1&status=available', 'limit=100&status=pending', 'status=sold'];
  const responses = [
    send({ path: `/pets/${id}` }),
    ...queries.map((query) => send({ path: `/pets?${query}` })),
    ...newPets.map((body, at) => create(body, [['Idempotency-Key', longestKey.slice(1) + at]])),
  ];
  for (const { status, text } of await Promise.all(responses))
    expect(status, `${breaking} ${text}`).toBeLessThan(300);
});
