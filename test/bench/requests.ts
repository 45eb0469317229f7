import type { APIGatewayProxyEvent } from 'aws-lambda';
import { proxyEvent } from '../proxy-event.ts';
import { somePets } from './dynamodb-stand-in.ts';

/** One valid request for each operation, and for the longest page. */
export const requests = (apiKey: string): Readonly<Record<RequestName, APIGatewayProxyEvent>> => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const page = (limit: string) => proxyEvent({ headers, query: { limit, status: 'available' } });
  return {
    getPet: proxyEvent({ resource: '/pets/{petId}', petId: `${somePets[0]?.id}`, headers }),
    createPet: proxyEvent({
      method: 'POST',
      headers,
      body: '{"name":"Rex","categoryId":1,"status":"available"}',
    }),
    listPets: page('20'),
    listPetsOf100: page('100'),
  };
};

export type RequestName = 'getPet' | 'createPet' | 'listPets' | 'listPetsOf100';
