import { createHash, createHmac, randomInt } from 'node:crypto';
import { Agent, request } from 'node:https';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/*
 * The minimum that handles the service's requests on Lambda: no framework, SDK, authentication, validation or
 * log. Its cold start is what the platform costs; the benchmark's figures are multiples of it.
 */

const setting = (name: string) => process.env[name] ?? '';
const table = setting('PETS_TABLE');
const region = setting('AWS_REGION');
const endpoint = new URL(setting('AWS_ENDPOINT_URL_DYNAMODB'));
const agent = new Agent({ keepAlive: true });

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/** A request's headers with AWS's Signature Version 4. */
const signed = (operation: string, body: string) => {
  const time = new Date().toISOString().replace(/[:-]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 'dynamodb', 'aws4_request'];
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    host: endpoint.host,
    'x-amz-date': time,
    'x-amz-security-token': setting('AWS_SESSION_TOKEN'),
    'x-amz-target': `DynamoDB_20120810.${operation}`,
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map((header) => header.join(':'));
  const canonical = ['POST', '/', '', ...lines, '', names, sha256(body)].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${setting('AWS_SECRET_ACCESS_KEY')}`);
  const credential = `${setting('AWS_ACCESS_KEY_ID')}/${scope.join('/')}`;
  const signature = hmac(key, text).toString('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
};

type Item = Readonly<Record<'id' | 'name' | 'categoryId' | 'status', { N: string; S: string }>>;

const call = (
  operation: string,
  input: object,
): Promise<{ readonly Item: Item; readonly Items: readonly Item[] }> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ TableName: table, ...input });
    const { hostname, port } = endpoint;
    const options = { hostname, port, method: 'POST', agent, headers: signed(operation, body) };
    request(options, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => resolve(JSON.parse(text)));
    })
      .on('error', reject)
      .end(body);
  });

const toPet = ({ id, name, categoryId, status }: Item) => ({
  id: Number(id.N),
  name: name.S,
  categoryId: Number(categoryId.N),
  status: status.S,
});

const respond = (statusCode: number, body: unknown): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Takes every request for a valid one. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  if (event.httpMethod === 'POST') {
    const pet = { id: randomInt(1, 2 ** 48 - 1), ...JSON.parse(event.body ?? '') };
    await call('PutItem', {
      Item: {
        id: { N: `${pet.id}` },
        name: { S: pet.name },
        categoryId: { N: `${pet.categoryId}` },
        status: { S: pet.status },
      },
      ConditionExpression: 'attribute_not_exists(id)',
    });
    return respond(201, pet);
  }
  const petId = event.pathParameters?.['petId'];
  if (petId !== undefined) {
    const { Item } = await call('GetItem', { Key: { id: { N: petId } } });
    return respond(200, toPet(Item));
  }
  const { limit = '20', status = '' } = event.queryStringParameters ?? {};
  const { Items } = await call('Query', {
    IndexName: 'byStatus',
    KeyConditionExpression: '#status = :status',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': { S: status } },
    Limit: Number(limit),
  });
  return respond(200, Items.map(toPet));
};
