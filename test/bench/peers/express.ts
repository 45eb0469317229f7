import { configure as serverlessExpress } from '@codegenie/serverless-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import { ApiError, errors } from '../../../lib/contract/errors.ts';
import { parsePetId } from '../../../lib/contract/pet.ts';
import { authenticate } from '../../../lib/keys/authenticate.ts';
import * as pets from '../../../lib/pets/pet-store.ts';
import { ListPetsQuery, NewPet, parse } from './schemas.ts';

const { signal } = new AbortController();

const app = express();

app.use(express.json());

app.use(async (request, response, next) => {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const record = token && (await authenticate(token, signal));
  if (!record) throw errors.unauthorized();
  response.locals['owner'] = record.owner;
  next();
});
app.get('/pets', async ({ query }, response) => {
  const page = await pets.list(parse(ListPetsQuery, query), signal);
  response.json(page.pets);
});

app.post('/pets', async ({ body }, response) => {
  const scope = { owner: response.locals['owner'], key: undefined };
  response.status(201).json(await pets.create(parse(NewPet, body), scope, signal));
});

app.get('/pets/:petId', async ({ params }, response) => {
  const id = parsePetId(params.petId);
  const pet = id && (await pets.get(id, signal));
  if (!pet) throw errors.notFound();
  response.json(pet);
});

app.use((thrown: unknown, _request: Request, response: Response, _next: NextFunction) => {
  const error = thrown instanceof ApiError ? thrown : errors.internalError(thrown);
  response.status(error.status).json(error.body);
});

export const handler = serverlessExpress({ app });
