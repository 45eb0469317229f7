import { expect, it } from 'vitest';
import { destroyProgram } from '../../infra/commands/destroy/program.ts';
import { stages } from '../../infra/settings/stages.ts';
import {
  type AwsResponse,
  caller,
  json,
  jsonError,
  noStack,
  resourcesOfStack,
  stackIn,
  startAwsEndpoint,
  xml,
  xmlError,
} from '../support/aws-endpoint.ts';
import { runCommand } from '../support/run-command.ts';

const aws = await startAwsEndpoint();
const destroy = (stage: string) =>
  runCommand(destroyProgram(undefined), ['--stage', stage, '--yes']);

it('refuses a permanent stage, and asks AWS for nothing', async () => {
  aws.responses = {};
  for (const { name } of stages)
    expect((await destroy(name)).error).toMatch(/It must be a personal stage/);
  expect(aws.requests).toEqual([]);
});

/** A stage with a stack, a copy of its table, and backups. */
const withStage = (DeleteTable: AwsResponse, DeleteBackup: AwsResponse) => {
  const isDeleted = () => aws.requests.some(({ action }) => action === 'DeleteStack');
  const backup = (TableName: string, BackupType: string) => ({
    ...{ TableName, BackupType, BackupStatus: 'AVAILABLE' },
    BackupArn: `arn:aws:dynamodb:eu-west-1:777777777777:table/${TableName}/backup/${BackupType}`,
  });
  aws.responses = {
    ...caller('777777777777'),
    DescribeStacks: () => (isDeleted() ? noStack : stackIn('CREATE_COMPLETE')),
    ListStackResources: resourcesOfStack(['DynamoDB::Table', 'PetsTable', 'dev-bob-Pets']),
    DeleteStack: xml('DeleteStack', {}),
    DeleteParameters: json({}),
    ListTables: json({
      TableNames: ['dev-bob-Pets', 'dev-bob-Pets-20260131T030000Z', 'dev-bob-PetsOfAnother'],
    }),
    ListBackups: json({
      BackupSummaries: [
        backup('dev-bob-Pets', 'USER'),
        backup('dev-bob-Pets', 'SYSTEM'),
        backup('dev-bob-Pets-20251231T030000Z', 'USER'),
        backup('dev-alice-Pets', 'USER'),
      ],
    }),
    DeleteTable,
    DeleteBackup,
  };
};

it.each([
  ['that are there', json({}), json({})],
  [
    'that are already gone',
    jsonError('ResourceNotFoundException'),
    jsonError('BackupNotFoundException'),
  ],
])(
  'deletes the copies and backups of a personal stage, and then its stack: %s',
  async (_which, DeleteTable, DeleteBackup) => {
    withStage(DeleteTable, DeleteBackup);
    const { out, error } = await destroy('dev-bob');
    expect(error).toBe('');
    expect(out).toMatch(/dev-bob-Pets\/backup\/SYSTEM stays: .*35 days/);
    expect(out).toContain('Nothing else of dev-bob is left');
    const deleted = aws.requests
      .filter(({ action }) => /^Delete(Table|Backup)$/.test(action))
      .map(({ body }) => JSON.parse(body));
    expect(deleted).toEqual([
      { TableName: 'dev-bob-Pets-20260131T030000Z' },
      { BackupArn: expect.stringMatching(/\/dev-bob-Pets\/backup\/USER$/) },
      { BackupArn: expect.stringMatching(/\/dev-bob-Pets-20251231T030000Z\/backup\/USER$/) },
    ]);
    expect(aws.requests.filter(({ action }) => action === 'DeleteStack')).toHaveLength(1);
  },
);

it('deletes nothing if the page of a proxy comes instead of the list of tables', async () => {
  withStage(json({}), json({}));
  aws.respond({ ListStackResources: [200, '<html>Welcome</html>'] });
  expect((await destroy('dev-bob')).error).toMatch(/ListStackResources: .* proxy/);
  expect(aws.requests.filter(({ action }) => /Delete/.test(action))).toEqual([]);
});

it.each([
  ['CloudFormation DescribeStacks: ExpiredToken', xmlError('ExpiredToken')],
  ['DescribeStacks: .* proxy', [200, '<html>Welcome</html>'] as const],
  ['AnimalStore-dev-bob is DELETE_FAILED, .* events say why', stackIn('DELETE_FAILED')],
])('waits until the stack is deleted, and says why it does not: %s', async (why, afterwards) => {
  withStage(json({}), json({}));
  const before = [stackIn('CREATE_COMPLETE'), stackIn('DELETE_IN_PROGRESS')];
  aws.respond({ DescribeStacks: () => before.shift() ?? afterwards });
  const { out, error } = await destroy('dev-bob');
  expect(out).toContain('being deleted, which takes minutes');
  expect(error).toMatch(new RegExp(`^Step 5 failed: .*${why}`));
  expect(out).not.toContain('is left');
});
