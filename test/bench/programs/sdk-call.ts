import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { NewPet } from '../../../lib/contract/pet.ts';
import * as pets from '../../../lib/pets/pet-store.ts';
import { callContext } from '../../support/call-context.ts';

/*
 * The service without its chain: one call of its store, and JSON. The difference is the cost of
 * authentication, validation, error shaping, log and metrics.
 */

const respond = (statusCode: number, body: unknown): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Connects to DynamoDB, as the service does in INIT. */
export const initialise = () => pets.get(1, callContext).catch(() => {});

/** Takes every request for a valid one. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  if (event.httpMethod === 'POST') {
    const newPet: NewPet = JSON.parse(event.body ?? '');
    const scope = { owner: 'bench', key: undefined };
    const { pet } = await pets.create(newPet, scope, callContext);
    return respond(201, pet);
  }
  const petId = event.pathParameters?.['petId'];
  if (petId !== undefined) return respond(200, await pets.get(Number(petId), callContext));
  const limit = Number(event.queryStringParameters?.['limit'] ?? 20);
  const page = await pets.list({ limit, status: 'available' }, callContext);
  return respond(200, page.pets);
};
