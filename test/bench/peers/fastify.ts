import awsLambdaFastify from '@fastify/aws-lambda';
import fastify from 'fastify';
import { type PetStatus, petStatuses } from '../../../lib/contract/bodies.ts';
import { ApiError, errors } from '../../../lib/contract/errors.ts';
import { parsePetId } from '../../../lib/contract/pet.ts';
import type { NewPet } from '../../../lib/contract/requests.ts';
import { authenticate } from '../../../lib/keys/authenticate.ts';
import * as pets from '../../../lib/pets/pet-store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    owner: string;
  }
}

const { signal } = new AbortController();

const newPet = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer' },
    status: { type: 'string', enum: petStatuses, default: 'available' },
  },
} as const;
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...newPet.properties },
} as const;
const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status: { type: 'string', enum: petStatuses },
    cursor: { type: 'string' },
  },
} as const;

const app = fastify();

app.decorateRequest('owner', '');
app.addHook('onRequest', async (request) => {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const record = token && (await authenticate(token, signal));
  if (!record) throw errors.unauthorized();
  request.owner = record.owner;
});

app.get<{ Querystring: { limit: number; status?: PetStatus; cursor?: string } }>(
  '/pets',
  { schema: { querystring: listQuery, response: { 200: { type: 'array', items: pet } } } },
  async ({ query }) => (await pets.list(query, signal)).pets,
);

app.post<{ Body: NewPet }>(
  '/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body, owner }, reply) => {
    reply.code(201);
    return pets.create(body, { owner, key: undefined }, signal);
  },
);

app.get<{ Params: { petId: string } }>(
  '/pets/:petId',
  { schema: { response: { 200: pet } } },
  async ({ params }) => {
    const id = parsePetId(params.petId);
    const found = id && (await pets.get(id, signal));
    if (!found) throw errors.notFound();
    return found;
  },
);

app.setErrorHandler((thrown, _request, reply) => {
  const error = toApiError(thrown);
  return reply.code(error.status).send(error.body);
});

const toApiError = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  return thrown instanceof Error && 'validation' in thrown
    ? errors.invalidRequest(thrown.message)
    : errors.internalError(thrown);
};

export const handler = awsLambdaFastify(app);
