import type { APIGatewayProxyEvent } from 'aws-lambda';
import { proxyEvent } from '../support/proxy-event.ts';
import { cannedPets } from './canned-answers.ts';

export const requestNames = ['getPet', 'createPet', 'listPets', 'listPetsOf100'] as const;
export type RequestName = (typeof requestNames)[number];

const newPet = '{"name":"Rex","categoryId":1,"status":"available"}';

/** One valid request for each operation, and for the longest page. */
export const requests = (apiKey: string): Readonly<Record<RequestName, APIGatewayProxyEvent>> => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const page = (limit: string) => proxyEvent({ headers, query: { limit, status: 'available' } });
  return {
    getPet: proxyEvent({ resource: '/pets/{petId}', petId: `${cannedPets[0]?.id}`, headers }),
    createPet: proxyEvent({
      method: 'POST',
      headers: { ...headers, 'Content-Length': `${newPet.length}` },
      body: newPet,
    }),
    listPets: page('20'),
    listPetsOf100: page('100'),
  };
};
