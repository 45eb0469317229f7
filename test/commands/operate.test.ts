import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openOperatedStage } from '../../infra/commands/operate/operated-stage.ts';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { announce, confirm, fail } from '../../infra/commands/terminal.ts';
import { maximumUnitsOf } from '../../infra/settings/maximum-units.ts';
import { functionNames } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { json, jsonError, startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';

const aws = await startAwsEndpoint();
afterAll(() => aws.stop());

const account = staging.environment?.account ?? '777777777777';
const stack = (StackStatus: string) =>
  xml('DescribeStacks', {
    Stacks: [{ StackStatus, Outputs: [{ OutputKey: 'PetsTableName', OutputValue: 'Pets' }] }],
  });
const caller = (Account: string) => xml('GetCallerIdentity', { Account });
const unreserved = (UnreservedConcurrentExecutions: number) =>
  json({ AccountLimit: { UnreservedConcurrentExecutions } });

/** A stack with the functions of the API, by their names. */
const withFunctions = (names: readonly string[]) => {
  const StackResourceSummaries = names.flatMap((name): object[] => {
    const id = `${name.toLowerCase()}Function`;
    return [
      {
        ResourceType: 'AWS::Lambda::Function',
        LogicalResourceId: `${id}0A1B`,
        PhysicalResourceId: name,
      },
      { ResourceType: 'AWS::Lambda::Alias', LogicalResourceId: `${id}Aliaslive2C3D` },
    ];
  });
  StackResourceSummaries.push({
    ResourceType: 'AWS::Lambda::Alias',
    LogicalResourceId: 'formerpetFunctionAliaslive4E5F',
    ResourceStatus: 'DELETE_COMPLETE',
  });
  return xml('ListStackResources', { StackResourceSummaries });
};

beforeEach(() => {
  aws.requests.length = 0;
  aws.responses = {
    GetCallerIdentity: caller(account),
    DescribeStacks: stack('UPDATE_COMPLETE'),
    ListStackResources: withFunctions(functionNames),
    ContinueUpdateRollback: xml('ContinueUpdateRollback', {}),
    'GET /2016-08-19/account-settings': unreserved(1_000),
    'DynamoDB_20120810.DescribeTable': json({ Table: { TableName: 'Pets' } }),
    ...Object.fromEntries(
      functionNames.flatMap((name) => [
        [`GET /2019-09-30/functions/${name}/concurrency`, json({})],
        [`PUT /2017-10-31/functions/${name}/concurrency`, json({})],
      ]),
    ),
  };
  for (const [name, value] of Object.entries(aws.variables)) vi.stubEnv(name, value);
});

/** Runs a command on staging, and types an answer; without one, there is no terminal. */
const operate = async (words: string, answer?: string) => {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(line));
  const ask = vi.fn(async () => answer ?? '');
  const program = operateProgram(answer === undefined ? undefined : ask);
  for (const each of [program, ...program.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  const given = [...words.split(' '), '--stage', 'staging'];
  const error = await program.parseAsync(given, { from: 'user' }).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  const changes = aws.requests.filter(({ action }) => /^(PUT|DELETE|PATCH|Continue)/.test(action));
  return { printed, error, questions: ask.mock.calls.flat(), changes };
};

describe('npm run operate', () => {
  it('prints where, what clients notice and every call, and makes the calls when the stage is typed', async () => {
    const { printed, error, questions, changes } = await operate('close', 'staging');
    expect(error).toBeUndefined();
    expect(questions).toEqual([expect.stringContaining('staging')]);
    const text = printed.join('\n');
    expect(text).toMatch(new RegExp(`staging.*${account}.*${staging.environment?.region}`));
    expect(text).toContain('Clients get 503');
    for (const name of functionNames)
      expect(text).toContain(
        `PutFunctionConcurrency {"FunctionName":"${name}","ReservedConcurrentExecutions":0}`,
      );
    expect(changes.map(({ body }) => body)).toEqual(
      functionNames.map(() => '{"ReservedConcurrentExecutions":0}'),
    );
  });

  it('closes what is deployed: no operation that is not released yet, but one that was removed since', async () => {
    aws.responses = {
      ...aws.responses,
      ListStackResources: withFunctions(['getPet', 'removedPet', 'fallback']),
      'GET /2019-09-30/functions/removedPet/concurrency': json({}),
      'PUT /2017-10-31/functions/removedPet/concurrency': json({}),
    };
    const { error, changes } = await operate('close', 'staging');
    expect(error).toBeUndefined();
    expect(changes.map(({ action }) => action.split('/')[3])).toEqual([
      'getPet',
      'removedPet',
      'fallback',
    ]);
  });

  it.each(['close', 'open', 'reserve listPets 1'])(
    'does not take a list without functions for a service that needs no change: %s',
    async (words) => {
      aws.responses = { ...aws.responses, ListStackResources: withFunctions([]) };
      const { error } = await operate(words, 'staging');
      expect(error).toMatch(/The stack of staging has no .*: deploy it first/);
    },
  );

  it('says why it found no functions', async () => {
    const refused = xmlError('ValidationError', 'The name is malformed');
    aws.responses = { ...aws.responses, ListStackResources: refused };
    expect((await operate('close', 'staging')).error).toBe('The name is malformed');
  });

  it('says which step failed', async () => {
    aws.responses = {
      ...aws.responses,
      'PUT /2017-10-31/functions/createPet/concurrency': json({}, 400),
    };
    const { error, printed, changes } = await operate('close --yes');
    expect(error).toMatch(/^Step 2 failed: /);
    expect(printed.at(-1)).toMatch(/Step 1/);
    expect(changes).toHaveLength(2);
  });

  it.each([
    ['close', 'prod', /Nothing/],
    ['close', 'Staging', /Nothing/],
    ['close', undefined, /--yes/],
    ['open', 'staging', /nothing to change/],
    ['reserve listPets 901', 'staging', /leave 99 of the .* unreserved, and Lambda requires 100/],
    ['reserve listPets -1', 'staging', /a number from 0 on/],
    ['reserve $(id) 1', 'staging', /Allowed choices/],
    ['throttle listPets 10', 'staging', /burst/],
    ['remove-item pets `id`', 'staging', /an id/],
    ['restore-copy pets yesterday', 'staging', /like 2026-01-31T03:00:00Z/],
    ['restore-copy pets 2026-02-31T03:00:00Z', 'staging', /no such time/],
    ['restore-copy pets 2126-01-31T03:00:00Z', 'staging', /a time in the past/],
    ['delete-table pets', 'staging', /close/],
  ])('changes nothing, and says why: %s, answered %s', async (words, answer, message) => {
    const { error, changes } = await operate(words, answer);
    expect(error).toMatch(message);
    expect(changes).toEqual([]);
  });

  it('removes a pet that is corrupt only in what tells a replay, and none that is whole', async () => {
    const hash = Buffer.alloc(32).toString('base64');
    const item = {
      ...{ id: { N: '7' }, name: { S: 'Rex' }, categoryId: { N: '1' }, status: { S: 'sold' } },
      ...{ creation: { B: hash }, fingerprint: { B: hash } },
    };
    const removal = (Item: object) => {
      aws.responses = {
        ...aws.responses,
        'DynamoDB_20120810.GetItem': json({ Item }),
        'DynamoDB_20120810.DeleteItem': json({}),
      };
      return operate('remove-item pets 7', 'staging');
    };
    expect((await removal(item)).error).toMatch(/7 is not corrupt/);
    const { error } = await removal({ ...item, fingerprint: { B: 'AAAA' } });
    expect(error).toBeUndefined();
    expect(aws.requests.at(-1)?.action).toBe('DynamoDB_20120810.DeleteItem');
  });

  it('restores the newest backup of all pages', async () => {
    const arnOf = (at: number) => `arn:aws:dynamodb:eu-west-1:${account}:table/Pets/backup/${at}`;
    const page = (at: number, more: object = {}) =>
      json({ BackupSummaries: [{ BackupArn: arnOf(at), BackupCreationDateTime: at }], ...more });
    aws.responses = {
      ...aws.responses,
      'DynamoDB_20120810.DescribeTable': jsonError('ResourceNotFoundException'),
      'DynamoDB_20120810.ListBackups': (body) =>
        body.includes(arnOf(1)) ? page(2) : page(1, { LastEvaluatedBackupArn: arnOf(1) }),
      'DynamoDB_20120810.DescribeBackup': json({
        BackupDescription: { SourceTableDetails: { TableName: 'Pets' } },
      }),
    };
    const { printed } = await operate('restore pets', 'no');
    expect(printed.join()).toContain(`RestoreTableFromBackup {"BackupArn":"${arnOf(2)}"`);
  });

  it('gives a restored table its other settings, and says which index it lacks', async () => {
    const { read: MaxReadRequestUnits, write: MaxWriteRequestUnits } = maximumUnitsOf(staging);
    const OnDemandThroughput = { MaxReadRequestUnits, MaxWriteRequestUnits };
    const Table = { TableName: 'Pets', TableStatus: 'ACTIVE', OnDemandThroughput };
    aws.responses = {
      ...aws.responses,
      'DynamoDB_20120810.DescribeTable': json({ Table }),
      'DynamoDB_20120810.ListTagsOfResource': json({ Tags: [] }),
      'DynamoDB_20120810.TagResource': json({}),
      'DynamoDB_20120810.DescribeContinuousBackups': json({}),
      'DynamoDB_20120810.UpdateContinuousBackups': json({}),
    };
    const { error, printed } = await operate('restore pets', 'staging');
    expect(error).toMatch(new RegExp(`Pets lacks the index ${tables.pets.indexes[0].name}`));
    expect(printed.join()).toContain('UpdateContinuousBackups');
    const done = aws.requests.map(({ action }) => action);
    expect(done).toContain('DynamoDB_20120810.TagResource');
    expect(done).toContain('DynamoDB_20120810.UpdateContinuousBackups');
  });

  it('asks for the name of a table that it deletes, even with --yes', async () => {
    const closed = functionNames.map((name) => [
      `GET /2019-09-30/functions/${name}/concurrency`,
      json({ ReservedConcurrentExecutions: 0 }),
    ]);
    aws.responses = { ...aws.responses, ...Object.fromEntries(closed) };
    expect((await operate('delete-table pets --yes')).error).toMatch(/no terminal/);
    const { questions, error } = await operate('delete-table pets --yes', 'staging');
    expect(questions).toEqual([expect.stringContaining('Pets')]);
    expect(error).toMatch(/Nothing/);
  });

  it('refuses the credentials of another account', async () => {
    const environment = { account: '123456789012', region: 'eu-west-1' };
    const opening = openOperatedStage({ ...staging, environment });
    await expect(opening).rejects.toThrow(new RegExp(`${account}.*123456789012`));
  });

  it('shows what AWS or a table says without what a terminal would obey', async () => {
    const forged = 'Pets\u001b]0;title\u0007\nerror: forged';
    const shown = 'Pets\\u001b]0;title\\u0007\\u000aerror: forged';
    const ask = vi.fn(async () => '');
    await confirm(ask, forged).catch(() => {});
    expect(ask).toHaveBeenCalledWith(expect.stringContaining(shown));
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    announce({ stage: 'staging', account: forged, region: '' }, []);
    expect(printed).toHaveBeenCalledWith(expect.stringContaining(shown));
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    fail(new AggregateError([new Error(forged), 'another']));
    process.exitCode = 0;
    expect(failed.mock.calls).toEqual([[`error: ${shown}`], ['error: another']]);
  });
});
