import { createHash, createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/*
 * The minimum that handles a request of getPet on Lambda: no framework, SDK, authentication, validation or
 * log. Its cold start is what the platform costs; the benchmark's ratios are multiples of it.
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
const signed = (body: string) => {
  const time = new Date().toISOString().replace(/[:-]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 'dynamodb', 'aws4_request'];
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    host: endpoint.host,
    'x-amz-date': time,
    'x-amz-security-token': setting('AWS_SESSION_TOKEN'),
    'x-amz-target': 'DynamoDB_20120810.GetItem',
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

const getItem = (id: string): Promise<{ readonly Item: Item }> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ TableName: table, Key: { id: { N: id } } });
    const { hostname, port } = endpoint;
    const options = { hostname, port, method: 'POST', agent, headers: signed(body) };
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

/** Takes every request for a valid one of getPet. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  const { Item } = await getItem(`${event.pathParameters?.['petId']}`);
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(toPet(Item)),
  };
};
