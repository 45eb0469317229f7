import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { GetStageCommand } from '@aws-sdk/client-api-gateway';
import {
  CreateBackupCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  GetItemCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { GetFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { findTable } from '../../infra/commands/find-table.ts';
import { openStage } from '../../infra/commands/open-stage.ts';
import { deployedApi } from '../../infra/commands/operate/deployed-api.ts';
import { recoveryOf } from '../../infra/commands/operate/deployed-table.ts';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { restore, restoreCopy } from '../../infra/commands/operate/restore.ts';
import type { Plan } from '../../infra/commands/plan.ts';
import { maximumUnitsOf } from '../../infra/settings/maximum-units.ts';
import { functionNames } from '../../infra/settings/names.ts';
import { emulated, staging } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { throttleOf } from '../../infra/settings/throttle-of.ts';

/*
 * Deploys staging to MiniStack, runs the commands of `npm run operate`, and looks at what they changed.
 * Run it with .ci/with-ministack.
 */

const context = ['emulator=true', 'placeholders=allowed'];
const cdk = (...words: readonly string[]) =>
  execFileSync('cdk', [...words, ...context.flatMap((value) => ['--context', value])], {
    stdio: 'inherit',
  });
cdk('bootstrap');
cdk('deploy', '--all', '--require-approval', 'never');
const opened = await openStage(emulated(staging));
const { dynamodb, tableOf } = opened;
const lambda = opened.clients.lambda();
const apiGateway = opened.clients.apiGateway();
const { functionOf, idOf } = await deployedApi(opened);

/** Runs a command, and types an answer: by default the name of the stage. */
const operate = async (words: string, answer = staging.name) => {
  console.log(`\n$ npm run operate -- ${words}`);
  const program = operateProgram(async () => answer);
  for (const each of [program, ...program.commands]) each.exitOverride();
  await program.parseAsync([...words.split(' '), '--stage', 'staging', '--emulator'], {
    from: 'user',
  });
};
const refused = (words: string, message: RegExp) =>
  rejects(operate(words), ({ message: actual }: Error) => {
    match(actual, message);
    console.log(`Refused: ${actual}`);
    return true;
  });
/** Does what the command line can't ask for. */
const runAll = async ({ steps }: Plan) => {
  for (const { run } of steps) await run();
};
/** Runs a command that finds nothing to change, and so does not ask. */
const unchanged = (words: string) => operate(words, 'no');

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
await unchanged('close');
await operate('open');
await expectConcurrency(() => undefined);
await unchanged('open');
await operate('reserve listPets 50');
await expectConcurrency((name) => (name === 'listPets' ? 50 : undefined));
await operate('reserve listPets');
await unchanged('reserve listPets');

const throttles = async () => {
  const restApiId = idOf('ApiGateway::RestApi');
  const get = new GetStageCommand({ restApiId, stageName: 'v1' });
  const { methodSettings = {} } = await apiGateway.send(get);
  // MiniStack keeps what CloudFormation set beside these, as `/~1pets~1{petId}/GET`.
  return Object.entries(methodSettings)
    .filter(([key]) => /^\/pets\/\{petId}\/(GET|HEAD)$/.test(key))
    .map(([, limits]) => [limits.throttlingRateLimit, limits.throttlingBurstLimit]);
};
await operate('throttle getPet 10 20');
deepEqual(await throttles(), Array(2).fill([10, 20]));
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
const statusOf = async (id: number) => {
  const get = new GetItemCommand({ TableName, Key: { id: { N: `${id}` } } });
  return (await dynamodb.send(get)).Item?.['status']?.S;
};
await put(7, 'lost');
await put(8, 'sold');
await operate('remove-item pets 7');
equal(await statusOf(7), undefined);
await refused('remove-item pets 8', /is not corrupt/);
await dynamodb.send(
  new PutItemCommand({ TableName: tableOf('keys'), Item: { keyId: { S: '0123456789abcdef' } } }),
);
await operate('remove-item keys 0123456789abcdef');

// MiniStack's CloudFormation does not turn on the recovery that the template has.
await refused('restore-copy pets 2026-01-31T03:00:00Z', /no point-in-time recovery.* restore pets/);
await operate('restore pets');
await refused('restore-copy pets 2026-01-31T03:00:00Z', /can only be copied as of .* and later/);
// MiniStack's recovery is of the present second only, so this is a time that it has not reached yet.
const time = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 5_000);
const copy = `${TableName}-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
await put(9, 'pending');
await runAll(await restoreCopy(opened, 'pets', time));
await put(8, 'available');
await dynamodb.send(new DeleteItemCommand({ TableName, Key: { id: { N: '9' } } }));
await put(10, 'available');
await operate(`copy-back pets ${copy}`);
deepEqual(await Promise.all([8, 9, 10].map(statusOf)), ['sold', 'pending', 'available']);
await unchanged(`copy-back pets ${copy}`);

const backUp = async (table: string) => {
  const create = new CreateBackupCommand({ TableName: table, BackupName: 'backup' });
  return (await dynamodb.send(create)).BackupDetails?.BackupArn;
};
const deleteTable = async () => {
  await dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await dynamodb.send(new DeleteTableCommand({ TableName }));
};
await deleteTable();
await operate(`restore pets --backup ${await backUp(copy)}`);
equal(await statusOf(8), 'sold');
await backUp(TableName);
await deleteTable();
await operate('restore pets');
// Staging does not protect its tables.
const stage = { ...opened.stage, deletionProtection: true };
await runAll(await restore({ ...opened, stage }, 'pets'));

const Table = await findTable(dynamodb, TableName);
const { read, write } = maximumUnitsOf(staging, tables.pets.id);
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
equal((await recoveryOf(dynamodb, TableName)).PointInTimeRecoveryStatus, 'ENABLED');
console.log('LEFT OUT: the days of recovery, which MiniStack does not keep.');
