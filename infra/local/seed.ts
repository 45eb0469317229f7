import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';

/** The most items that DynamoDB writes in one call. */
const batchSize = 25;

/** A hundred animals, the same every time, with the ids 1 to 100. */
const animals = Array.from({ length: 100 }, (_, index): Pet => {
  const name = ['Bella', 'Coco', 'Luna', 'Max', 'Rocky'][index % 5];
  const status = petStatuses[index % petStatuses.length] ?? 'available';
  return { id: index + 1, name: `${name} ${index + 1}`, categoryId: (index % 4) + 1, status };
});

/** Puts the hundred animals into the pets table, in the place of those with their ids. */
export const seed = async (client: DynamoDBClient, table: string): Promise<void> => {
  const documents = DynamoDBDocumentClient.from(client);
  for (let start = 0; start < animals.length; start += batchSize) {
    const batch = animals.slice(start, start + batchSize);
    const requests = batch.map((Item) => ({ PutRequest: { Item } }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }));
  }
};
