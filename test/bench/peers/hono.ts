import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { bearerAuth } from 'hono/bearer-auth';
import { HTTPException } from 'hono/http-exception';
import { validator } from 'hono/validator';
import { ApiError, errors } from '../../../lib/contract/errors.ts';
import { ListPetsQuery } from '../../../lib/contract/list-pets-query.ts';
import { NewPet, parsePetId } from '../../../lib/contract/pet.ts';
import { parseBody, parseQuery } from '../../../lib/contract/requests.ts';
import { authenticate, warmUp } from '../../../lib/keys/authenticate.ts';
import * as pets from '../../../lib/pets/pet-store.ts';
import { callContext } from '../call-context.ts';

const unauthorized = errors.unauthorized().body;

type Env = { Variables: { owner: string } };

const app = new Hono<Env>();

app.use(
  bearerAuth<Env>({
    verifyToken: async (token, context) => {
      const record = await authenticate(token, callContext);
      if (record === undefined) return false;
      context.set('owner', record.owner);
      return true;
    },
    noAuthenticationHeader: { message: unauthorized },
    invalidAuthenticationHeader: { message: unauthorized },
    invalidToken: { message: unauthorized },
  }),
);

app.get(
  '/pets',
  validator('query', (query) => parseQuery(ListPetsQuery, query)),
  async (context) => {
    const page = await pets.list(context.req.valid('query'), callContext);
    return context.json(page.pets);
  },
);

app.post(
  '/pets',
  validator('json', (body) => parseBody(NewPet, body)),
  async (context) => {
    const scope = { owner: context.get('owner'), key: undefined };
    const { pet } = await pets.create(context.req.valid('json'), scope, callContext);
    return context.json(pet, 201);
  },
);

app.get('/pets/:petId', async (context) => {
  const id = parsePetId(context.req.param('petId'));
  const pet = id && (await pets.get(id, callContext));
  if (!pet) throw errors.notFound();
  return context.json(pet);
});

app.onError((thrown) => {
  if (thrown instanceof HTTPException) return thrown.getResponse();
  const error = thrown instanceof ApiError ? thrown : errors.internalError(thrown);
  return Response.json(error.body, { status: error.status });
});

/** Connects to DynamoDB, as the service does in INIT. */
export const initialise = warmUp;

export const handler = handle(app);
