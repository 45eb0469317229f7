import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { APIGatewayClient, GetRestApisCommand, GetStageCommand } from '@aws-sdk/client-api-gateway';
import {
  CreateBackupCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { openOperatedStage } from '../../infra/commands/operate/operated-stage.ts';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { restore } from '../../infra/commands/operate/restore.ts';
import { maximumUnitsOf } from '../../infra/settings/maximum-units.ts';
import { functionNames, serviceName } from '../../infra/settings/names.ts';
import { emulated, staging } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { throttleOf } from '../../infra/settings/throttle-of.ts';

/*
 * Deploys staging to MiniStack, runs the commands of `npm run operate`, and looks at what they changed.
 * Run it with .ci/with-ministack.
 */

const lambda = new LambdaClient();
const dynamodb = new DynamoDBClient();
const apiGateway = new APIGatewayClient();

const context = ['emulator=true', 'placeholders=allowed'];
const cdk = (...words: readonly string[]) =>
  execFileSync('cdk', [...words, ...context.flatMap((value) => ['--context', value])], {
    stdio: 'inherit',
  });
cdk('bootstrap');
cdk('deploy', '--all', '--require-approval', 'never');
const opened = await openOperatedStage(emulated(staging));
const { functionOf, tableOf } = opened;

/** Runs a command, and types an answer: by default the name of the stage. */
const operate = async (words: string, answer = staging.name) => {
  console.log(`\n$ npm run operate -- ${words}`);
  const program = operateProgram(async () => answer);
  for (const each of [program, ...program.commands]) each.exitOverride();
  await program.parseAsync([...words.split(' '), '--stage', 'staging', '--emulator'], {
    from: 'user',
  });
};
const refused = (words: string, message: RegExp, answer?: string) =>
  rejects(operate(words, answer), ({ message: actual }: Error) => {
    match(actual, message);
    console.log(`Refused: ${actual}`);
    return true;
  });
const nothing = /^There is nothing to change$/;

const expectConcurrency = async (expected: (name: string) => number | undefined) => {
  const reserved = await Promise.all(
    functionNames.map(async (name) => {
      const get = new GetFunctionConcurrencyCommand({ FunctionName: functionOf(name) });
      return (await lambda.send(get)).ReservedConcurrentExecutions;
    }),
  );
  deepEqual(reserved, functionNames.map(expected));
};
await operate('close');
await expectConcurrency(() => 0);
await refused('close', nothing);
await operate('open');
await expectConcurrency(() => undefined);
await refused('open', nothing);
await refused('close', /^Nothing was changed$/, 'prod');
await operate('reserve listPets 50');
await expectConcurrency((name) => (name === 'listPets' ? 50 : undefined));
await refused('reserve listPets 901', /and Lambda requires 100/);
await operate('reserve listPets');
await refused('reserve listPets', nothing);

const throttles = async () => {
  const { items = [] } = await apiGateway.send(new GetRestApisCommand());
  const restApiId = items.find(({ name }) => name === serviceName(staging))?.id;
  const get = new GetStageCommand({ restApiId, stageName: 'v1' });
  const { methodSettings = {} } = await apiGateway.send(get);
  // MiniStack keeps what CloudFormation set beside these, as `/~1pets~1{petId}/GET`.
  return Object.entries(methodSettings)
    .filter(([key]) => /^\/pets\/\{petId}\/(GET|HEAD)$/.test(key))
    .map(([, limits]) => [limits.throttlingRateLimit, limits.throttlingBurstLimit]);
};
await operate('throttle getPet 10 20');
deepEqual(await throttles(), Array(2).fill([10, 20]));
await refused('throttle getPet 10 20', nothing);
await operate('throttle getPet');
const { ratePerSecond, burst } = throttleOf(staging, 'getPet');
deepEqual(await throttles(), Array(2).fill([ratePerSecond, burst]));

const TableName = tableOf('pets');
const put = (id: number, status: string) => {
  const fields = { id: { N: `${id}` }, status: { S: status }, categoryId: { N: '1' } };
  const hash = { B: new Uint8Array(32) };
  const Item = { ...fields, name: { S: 'Rex' }, creation: hash, fingerprint: hash };
  return dynamodb.send(new PutItemCommand({ TableName, Item }));
};
const isStored = async (id: number) =>
  (await dynamodb.send(new GetItemCommand({ TableName, Key: { id: { N: `${id}` } } }))).Item !==
  undefined;
await put(7, 'lost');
await put(8, 'sold');
await operate('remove-item pets 7');
equal(await isStored(7), false);
await refused('remove-item pets 7', /^There is no item 7/);
await refused('remove-item pets 8', /is not corrupt/);
equal(await isStored(8), true);
await dynamodb.send(
  new PutItemCommand({ TableName: tableOf('keys'), Item: { keyId: { S: '0123456789abcdef' } } }),
);
await operate('remove-item keys 0123456789abcdef');

await operate(`restore-copy pets ${new Date().toISOString().replace(/\.\d+/, '')}`);
const copy = `${TableName}-restored`;
const backup = new CreateBackupCommand({ TableName: copy, BackupName: 'restored' });
const BackupArn = (await dynamodb.send(backup)).BackupDetails?.BackupArn;
await refused('delete-table pets', /^The service is open/, TableName);
await operate('close');
await refused('delete-table pets --yes', /^Nothing was changed$/);
const protect = { TableName, DeletionProtectionEnabled: true };
await dynamodb.send(new UpdateTableCommand(protect));
await operate('delete-table pets', TableName);
await refused('restore pets', /^DynamoDB has no backup/);
await operate(`restore pets --backup ${BackupArn}`);
await operate('open');
equal(await isStored(8), true);
// Staging does not protect its tables.
const stage = { ...opened.stage, deletionProtection: true };
for (const { isDone, run } of await restore({ ...opened, stage }, 'pets'))
  if (!(await isDone?.())) await run();

const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
const { read, write } = maximumUnitsOf(staging);
const limits = { MaxReadRequestUnits: read, MaxWriteRequestUnits: write };
equal(Table?.DeletionProtectionEnabled, true);
deepEqual(Table?.OnDemandThroughput, limits);
deepEqual(
  Table?.GlobalSecondaryIndexes?.map(({ OnDemandThroughput }) => OnDemandThroughput),
  tables.pets.indexes.map(() => limits),
);
const list = new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn });
const { Tags = [] } = await dynamodb.send(list);
deepEqual(Object.fromEntries(Tags.map(({ Key = '', Value }) => [Key, Value])), {
  service: 'animal-store',
  stage: 'staging',
});
const describe = new DescribeContinuousBackupsCommand({ TableName });
const { ContinuousBackupsDescription } = await dynamodb.send(describe);
equal(
  ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus,
  'ENABLED',
);
console.log('LEFT OUT: the days of recovery, which MiniStack does not keep.');
