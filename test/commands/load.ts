import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { startLocalService } from '../../infra/local/local-service.ts';
import { sendTo } from '../support/http-client.ts';
import { nextPageQuery } from '../support/next-page.ts';

const fullPage = 100;

/**
 * Drives the local service with lists, gets and creations in equal parts, or with only one kind of request, prints what
 * autocannon measured, and holds the catalogue to the answers: as many pets as 201s, each with an id of its own. Fails
 * on any error or difference.
 */
const run = async (requests: number, connections: number, only: string | undefined) => {
  const service = await startLocalService({ progress: console.log });
  try {
    const { baseAddress, apiKey } = service;
    const authorization = { Authorization: `Bearer ${apiKey}` };
    const post = {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    } as const;
    const ids: number[] = [];
    while (ids.length < fullPage) {
      const { text } = await sendTo(baseAddress, {
        ...post,
        path: '/pets',
        headers: Object.entries(post.headers),
      });
      ids.push(JSON.parse(text).id);
    }
    const get = (path: string) => ({ method: 'GET', path, headers: authorization }) as const;
    const kinds = new Map<string, autocannon.Request>([
      ['create', { ...post, path: '/v1/pets' }],
      ['list', get('/v1/pets?status=available')],
      ['list100', get(`/v1/pets?status=available&limit=${fullPage}`)],
      ['get', get(`/v1/pets/${ids[0]}`)],
    ]);
    const sent = (only === undefined ? ['create', 'list', 'get'] : [only]).map((kind) => {
      const request = kinds.get(kind);
      if (!request) throw new Error(`--only takes one of ${[...kinds.keys()].join(', ')}`);
      return request;
    });

    const result = await autocannon({
      url: baseAddress,
      connections,
      amount: requests,
      requests: sent,
    });
    console.log(autocannon.printResult(result));

    const created = fullPage + (result.statusCodeStats?.['201']?.count ?? 0);
    const listed = await walk(baseAddress, apiKey);
    const distinct = new Set(listed).size;
    console.log(
      `${created} creations answered with 201, ${listed.length} pets listed, ${distinct} ids`,
    );
    const failures = result.errors + result.timeouts + result.non2xx;
    if (failures > 0) throw new Error(`${failures} requests failed`);
    if (created !== listed.length || created !== distinct)
      throw new Error('Pets were lost or doubled');
  } finally {
    await service.stop();
  }
};

const walk = async (baseAddress: string, apiKey: string): Promise<number[]> => {
  const ids: number[] = [];
  for (let query: string | undefined = 'limit=100'; query !== undefined; ) {
    const { text, headers } = await sendTo(baseAddress, {
      path: `/pets?${query}`,
      headers: [['Authorization', `Bearer ${apiKey}`]],
    });
    const pets: { id: number }[] = JSON.parse(text);
    ids.push(...pets.map((pet) => pet.id));
    query = nextPageQuery(headers['link']);
  }
  return ids;
};

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
await run(Number(values.requests), Number(values.connections), values.only);
