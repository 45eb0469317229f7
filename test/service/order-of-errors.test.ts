import { expect, it } from 'vitest';
import { bearer, creation, type EventParts } from '../support/events.ts';
import { startHandlers } from '../support/handlers.ts';

const service = await startHandlers();

const noKey = bearer('no key');
const type = { 'Content-Type': 'text/plain' };
const idempotencyKey = { 'Idempotency-Key': 'two words' };
const query = { colour: 'red' };
const wrongBody = { name: 'Rex' };

it.each<[first: string, second: string, status: number, message: RegExp, EventParts]>([
  ['API key', 'query', 401, /key/, { headers: noKey, query }],
  ['API key', 'path', 401, /key/, { headers: noKey, path: { petId: 'abc' } }],
  ['API key', 'body', 401, /key/, creation(wrongBody, noKey)],
  ['query', 'path', 400, /colour/, { query, path: { petId: 'abc' } }],
  ['query', 'Content-Type', 400, /colour/, { ...creation(wrongBody, type), query }],
  ['query', 'body', 400, /colour/, { ...creation(wrongBody), query }],
  ['query', 'Idempotency-Key', 400, /colour/, { ...creation(undefined, idempotencyKey), query }],
  ['Content-Type', 'body', 415, /Content-Type/, creation(wrongBody, type)],
  [
    'Content-Type',
    'Idempotency-Key',
    415,
    /Content-Type/,
    creation(undefined, { ...type, ...idempotencyKey }),
  ],
  ['body', 'Idempotency-Key', 400, /categoryId/, creation(wrongBody, idempotencyKey)],
])(
  'a wrong %s and a wrong %s get %i for the first',
  async (_first, _second, status, message, parts) => {
    const response = await service.send(parts);
    expect(response).toMatchObject({ status, body: { message: expect.stringMatching(message) } });
  },
);
