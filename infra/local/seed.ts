import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';

/** A hundred animals, the same every time, with the ids 1 to 100. */
const animals = Array.from({ length: 100 }, (_, index): Pet => {
  const name = ['Bella', 'Coco', 'Luna', 'Max', 'Rocky'][index % 5];
  const status = petStatuses[index % petStatuses.length] ?? 'available';
  return { id: index + 1, name: `${name} ${index + 1}`, categoryId: (index % 4) + 1, status };
});

/** Puts the hundred animals into the pets table, and replaces those with their ids. */
export const seed = async (client: DynamoDBClient, table: string): Promise<void> => {
  const documents = DynamoDBDocumentClient.from(client);
  await Promise.all(
    animals.map((Item) => documents.send(new PutCommand({ TableName: table, Item }))),
  );
};
