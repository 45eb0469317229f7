import { expect, it } from 'vitest';
import { contractText, resolveReferences } from '../support/openapi-document.ts';

const int64 = { type: 'integer', format: 'int64' };
const text = { type: 'string' };
const PetStatus = { ...text, enum: expect.arrayContaining(['available', 'pending', 'sold']) };
const NewPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: text, categoryId: int64, status: PetStatus },
};
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
        'query limit': { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        'query status': PetStatus,
      },
      responses: { 200: json({ type: 'array', items: Pet }), 401: json(ErrorBody) },
    },
    'post /pets': {
      operationId: 'createPet',
      security: [{ apiKey: [] }],
      requiredParameters: [],
      requestBody: { required: true, ...json(NewPet) },
      responses: { 201: json(Pet), 400: json(ErrorBody), 401: json(ErrorBody) },
    },
    'get /pets/{petId}': {
      operationId: 'getPet',
      security: [{ apiKey: [] }],
      deprecated: true,
      'x-sunset': '2030-12-05',
      requiredParameters: ['path petId'],
      parameters: { 'path petId': int64 },
      responses: { 200: json(Pet), 401: json(ErrorBody), 404: json(ErrorBody) },
    },
  },
};

const breaking =
  'This change breaks clients of /v1. Take it back, or offer it at a new base path, such as /v2.';

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
