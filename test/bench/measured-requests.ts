import type { APIGatewayProxyEvent } from 'aws-lambda';
import { cannedPets } from '../support/canned-responses.ts';
import { eventWith } from '../support/events.ts';

export const requestNames = ['getPet', 'createPet', 'listPets'] as const;
export type RequestName = (typeof requestNames)[number];

const newPet = '{"name":"Rex","categoryId":1,"status":"available"}';

/** One valid request for each operation. */
export const requests = (apiKey: string): Readonly<Record<RequestName, APIGatewayProxyEvent>> => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  return {
    getPet: eventWith({
      resource: '/pets/{petId}',
      path: { petId: `${cannedPets[0]?.id}` },
      headers,
    }),
    createPet: eventWith({
      method: 'POST',
      headers: { ...headers, 'Content-Length': `${newPet.length}` },
      body: newPet,
    }),
    listPets: eventWith({ headers, query: { limit: '20', status: 'available' } }),
  };
};
