import { RequestValidationError, Router } from '@aws-lambda-powertools/event-handler/http';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { ApiError, errors } from '../../../lib/contract/errors.ts';
import { ListPetsQuery } from '../../../lib/contract/list-pets-query.ts';
import { NewPet, type Pet, parsePetId } from '../../../lib/contract/pet.ts';
import { authenticate, warmUp } from '../../../lib/keys/authenticate.ts';
import * as pets from '../../../lib/pets/pet-store.ts';
import { callContext } from '../call-context.ts';

/** The router's types don't know a bigint in JSON. */
const toJson = (pet: Pet) => ({ ...pet, categoryId: Number(pet.categoryId) });

const app = new Router<{ store: { request: { owner: string } } }>();

app.use(async ({ reqCtx, next }) => {
  const token = /^Bearer (.+)$/.exec(reqCtx.req.headers.get('authorization') ?? '')?.[1];
  const record = token && (await authenticate(token, callContext));
  if (!record) throw errors.unauthorized();
  reqCtx.set('owner', record.owner);
  await next();
});

app.get(
  '/pets',
  async ({ valid }) => (await pets.list(valid.req.query, callContext)).pets.map(toJson),
  {
    validation: { req: { query: ListPetsQuery } },
  },
);

app.post(
  '/pets',
  async ({ valid, get }) => {
    const scope = { owner: get('owner') ?? '', key: undefined };
    const { pet } = await pets.create(valid.req.body, scope, callContext);
    return { statusCode: 201, body: toJson(pet) };
  },
  { validation: { req: { body: NewPet } } },
);

app.get('/pets/:petId', async ({ params }) => {
  const id = parsePetId(params['petId']);
  const pet = id && (await pets.get(id, callContext));
  if (!pet) throw errors.notFound();
  return toJson(pet);
});

const respond = ({ status, body }: ApiError) => Response.json(body, { status });

app.errorHandler(ApiError, async (error) => respond(error));
app.errorHandler(RequestValidationError, async ({ message }) =>
  respond(errors.invalidRequest(message)),
);

/** Connects to DynamoDB, as the service does in INIT. */
export const initialise = warmUp;

export const handler = (event: APIGatewayProxyEvent, context: Context) =>
  app.resolve(event, context);
