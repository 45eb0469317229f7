import { randomInt } from 'node:crypto';
import awsLite from '@aws-lite/client';
import dynamodb from '@aws-lite/dynamodb';

/* The document-client call with another client, which has no types for DynamoDB. */

const TableName = process.env.PETS_TABLE;
const client = awsLite({
  endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
  plugins: [dynamodb],
});

const respond = (statusCode, body) => ({
  statusCode,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Connects to DynamoDB, as the service does in INIT. */
export const initialise = async () =>
  (await client).DynamoDB.GetItem({ TableName, Key: { id: 1 }, ConsistentRead: true });

/** Takes every request for a valid one. */
export const handler = async (event) => {
  const { DynamoDB } = await client;
  if (event.httpMethod === 'POST') {
    const Item = { id: randomInt(1, 2 ** 48 - 1), ...JSON.parse(event.body ?? '') };
    const ConditionExpression = 'attribute_not_exists(id)';
    await DynamoDB.PutItem({ TableName, Item, ConditionExpression });
    return respond(201, Item);
  }
  const petId = event.pathParameters?.petId;
  if (petId !== undefined) {
    const Key = { id: Number(petId) };
    const { Item } = await DynamoDB.GetItem({ TableName, Key, ConsistentRead: true });
    return respond(200, Item);
  }
  const { limit = '20', status = '' } = event.queryStringParameters ?? {};
  const { Items } = await DynamoDB.Query({
    TableName,
    IndexName: 'byStatus',
    KeyConditionExpression: '#status = :status',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status },
    Limit: Number(limit),
  });
  return respond(200, Items);
};
