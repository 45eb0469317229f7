import { expect, inject, it, onTestFinished } from 'vitest';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { LocalDeployment } from '../../infra/local/local-deployment.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { delayed, FaultProxy } from '../support/fault-proxy.ts';
import { assemblyDirectory } from '../support/stack.ts';

/** Longer than a reload takes. */
const restartMs = 3_000;

it('a reload while DynamoDB Local is started again comes after it, and stays in service', async () => {
  const local = inject('dynamodb');
  if (!local) throw new Error('This test needs DynamoDB Local: unset BASE_URL');
  const proxy = new FaultProxy(local.dynamodbEndpoint);
  onTestFinished(() => proxy.refuseConnections());
  const log: string[] = [];
  const write = (line: string) => void log.push(line);
  const gateway = await startGateway({ port: 0, log: write });
  onTestFinished(gateway.stop);
  const stack = await readStack(assemblyDirectory());
  const changed = { ...stack, api: { ...stack.api, stageName: 'next' } };
  const deployment = new LocalDeployment(
    {
      gateway,
      dynamodbEndpoint: await proxy.listen(),
      docsToken: '',
      synthesiseAgain: async () => changed,
      progress: write,
      log: write,
    },
    stack,
  );
  onTestFinished(deployment.terminate);
  await deployment.serve();

  const { TableName: keys } = stack.tables['KEYS_TABLE'] ?? {};
  proxy.inject(`PutItem ${keys}`, delayed(restartMs), 1);
  const restarted = deployment.serve();
  await Promise.all([restarted, deployment.redeploy(new AbortController().signal)]);
  expect(log).toEqual(['Reloaded the functions', 'Reloaded the stack']);
  expect((await fetch(`${gateway.origin}/next/pets`)).status).toBe(401);
});
