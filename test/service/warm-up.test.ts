import { beforeEach, describe, expect, it } from 'vitest';
import { captureLog, readLines } from '../support/captured-log.ts';
import { creation } from '../support/events.ts';
import { type Fault, faults, forwarded, stalls } from '../support/fault-proxy.ts';
import { startHandlers } from '../support/handlers.ts';

const service = await startHandlers();
// Imported after its environment is set.
const { warmUp } = await import('../../lib/keys/authenticate.ts');

beforeEach(() => service.proxy.reset());

describe('warming up', () => {
  it('costs one read of the keys table, which DynamoDB accepts', async () => {
    const statuses: number[] = [];
    const noteStatus = forwarded((response, body) => {
      statuses.push(response.statusCode);
      response.end(body);
    });
    service.proxy.inject('GetItem Keys', noteStatus);
    await warmUp();
    expect(service.proxy.requests).toEqual(['GetItem Keys']);
    expect(statuses).toEqual([200]);
  });

  it('gives up after a second, in its first or second attempt, when the table hangs', async () => {
    service.proxy.inject('GetItem Keys', stalls.hang);
    await warmUp();
    expect(service.proxy.requests.length).toBeGreaterThan(0);
    expect(service.proxy.requests.length).toBeLessThan(3);
  });

  it.each<[outcome: string, fault?: Fault]>([['no fault'], ...Object.entries(faults)])(
    'never fails, and changes no response and no metric of a request: %s',
    async (_outcome, fault) => {
      if (fault) service.proxy.inject('GetItem Keys', fault);
      await warmUp();
      service.proxy.reset();
      const lines = captureLog();
      await service.send({ headers: { Authorization: [] } });
      const [metrics] = readLines(lines);
      expect(metrics).toMatchObject({ status: 401, Requests: 1 });
      expect(metrics).not.toHaveProperty('DynamoDBLatency');
      expect((await service.send(creation())).status).toBe(201);
    },
  );
});
