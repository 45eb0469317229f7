import { beforeEach, describe, expect, it, vi } from 'vitest';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { perform } from '../../infra/commands/plan.ts';
import { fail } from '../../infra/commands/terminal.ts';
import { maximumUnitsOf } from '../../infra/settings/maximum-units.ts';
import { functionNames, stageTags } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { tables } from '../../infra/settings/tables.ts';
import { throttleOf } from '../../infra/settings/throttle-of.ts';
import {
  type AwsResponse,
  caller,
  json,
  jsonError,
  type Responses,
  resourcesOfStack,
  stackIn,
  startAwsEndpoint,
  xmlError,
} from '../support/aws-endpoint.ts';
import { runCommand } from '../support/run-command.ts';

const aws = await startAwsEndpoint();

const account = staging.environment?.account ?? '777777777777';
/** The throttle of getPet, which lib/operations declares. */
const { ratePerSecond, burst } = throttleOf(staging, 'getPet');
const declaredThrottle = { rate: `${ratePerSecond}`, burst: `${burst}` };

/** A stack with the functions of the API, by their names. */
const withFunctions = (names: readonly string[]) =>
  resourcesOfStack(
    ...names.flatMap((name) => [
      ['Lambda::Function', `${name.toLowerCase()}Function0A1B`, name] as const,
      ['Lambda::Alias', `${name.toLowerCase()}FunctionAliaslive2C3D`] as const,
    ]),
    ['ApiGateway::RestApi', 'Api', 'api'],
    ['ApiGateway::Stage', 'ApiStage', 'v1'],
    ['Lambda::Alias', 'formerpetFunctionAliaslive4E5F', '', 'DELETE_COMPLETE'],
  );

beforeEach(() => {
  aws.responses = {
    ...caller(account),
    DescribeStacks: stackIn('UPDATE_COMPLETE', { PetsTableName: 'Pets' }),
    ListStackResources: withFunctions(functionNames),
    DescribeTable: json({ Table: { TableName: 'Pets' } }),
    ...Object.fromEntries(
      functionNames.flatMap((name) => [
        [`GET /2019-09-30/functions/${name}/concurrency`, json({})],
        [`PUT /2017-10-31/functions/${name}/concurrency`, json({})],
      ]),
    ),
  };
});

/** Runs a command on staging, and types an answer; without one, there is no terminal. */
const operate = async (words: string, answer?: string) => {
  const ask = vi.fn(async () => answer ?? '');
  const program = operateProgram(answer === undefined ? undefined : ask);
  const named = words.includes('--stage') ? words : `${words} --stage staging`;
  const given = named.split(' ');
  const { out, error } = await runCommand(program, given);
  const printed = out.trimEnd().split('\n');
  const changes = aws.requests.filter(({ action }) => /^(PUT|DELETE|PATCH)/.test(action));
  return { printed, error, questions: ask.mock.calls.flat(), changes };
};

describe('npm run operate', () => {
  it('prints where, what clients notice and every call, and makes the calls when the stage is typed', async () => {
    const { printed, error, questions, changes } = await operate('close', 'staging');
    expect(error).toBe('');
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
    aws.respond({
      ListStackResources: withFunctions(['getPet', 'removedPet', 'fallback']),
      'GET /2019-09-30/functions/removedPet/concurrency': json({}),
      'PUT /2017-10-31/functions/removedPet/concurrency': json({}),
    });
    const { error, changes } = await operate('close', 'staging');
    expect(error).toBe('');
    expect(changes.map(({ action }) => action.split('/')[3])).toEqual([
      'getPet',
      'removedPet',
      'fallback',
    ]);
  });

  it.each(['close', 'open', 'reserve listPets 1'])(
    'does not take a list without functions for a service that needs no change: %s',
    async (words) => {
      aws.respond({ ListStackResources: withFunctions([]) });
      const { error } = await operate(words, 'staging');
      expect(error).toMatch(/The stack of staging has no .*: deploy it first/);
    },
  );

  it.each([
    ['ValidationError', 'The name is malformed'],
    ['AccessDenied', 'The user does not exist'],
  ])('says why it found no functions: %s', async (name, message) => {
    aws.respond({ ListStackResources: xmlError(name, message) });
    expect((await operate('close', 'staging')).error).toContain(message);
  });

  it.each<[AwsResponse, RegExp]>([
    [jsonError('ValidationException'), /^DynamoDB ListBackups: ValidationException$/],
    [[200, '<html>Welcome</html>'], /^DynamoDB ListBackups: .* is not valid JSON$/],
  ])('names the call of AWS that failed: %j', async (response, message) => {
    withBackups([]);
    aws.respond({ ListBackups: response });
    expect((await operate('restore pets')).error).toMatch(message);
  });

  it('says which step failed in which call, and to run the command again', async () => {
    aws.respond({
      'PUT /2017-10-31/functions/createPet/concurrency': json({ message: 'Not now.' }, 400),
    });
    const { error, printed, changes } = await operate('close --yes');
    expect(error).toBe(
      'Step 2 failed: Lambda PutFunctionConcurrency: Not now. Run the same command again: it does what is left.',
    );
    expect(printed.at(-1)).toMatch(/Step 1/);
    expect(changes).toHaveLength(2);
  });

  it.each([
    ['close', 'prod', /Nothing/],
    ['close', undefined, /--yes/],
    ['reserve listPets -1', 'staging', /a number from 0 on/],
    ['reserve $(id) 1', 'staging', /Allowed choices/],
    ['throttle listPets 10', 'staging', /burst/],
    ['remove-item pets `id`', 'staging', /an id/],
    ['remove-item pets abc', 'staging', /must be a number/],
    ['restore-copy pets yesterday', 'staging', /a time in the past, like 2026-01-31T03:00:00Z/],
    ['restore-copy pets 2026-02-31T03:00:00Z', 'staging', /a time in the past/],
    ['restore-copy pets 2126-01-31T03:00:00Z', 'staging', /a time in the past/],
    ['copy-back pets a/b', 'staging', /the name of a table/],
  ])('changes nothing, and says why: %s, answered %s', async (words, answer, message) => {
    const { error, changes } = await operate(words, answer);
    expect(error).toMatch(message);
    expect(changes).toEqual([]);
  });

  it.each([
    ['throttle getPet 10 20', { rate: '10', burst: '20' }],
    ['throttle getPet', declaredThrottle],
  ])('gives the methods of an operation their throttle: %s', async (words, { rate, burst }) => {
    const update = 'PATCH /restapis/api/stages/v1';
    aws.respond({ [update]: json({}) });
    const { error, changes } = await operate(words, 'staging');
    expect(error).toBe('');
    expect(changes.map(({ action }) => action)).toEqual([update]);
    const { patchOperations } = JSON.parse(changes[0]?.body ?? '{}');
    const limits = patchOperations.map(({ op, path, value }: Record<string, string>) => [
      `${op} ${path}`,
      value,
    ]);
    const settings = (method: string) => `replace /~1pets~1{petId}/${method}/throttling`;
    expect(Object.fromEntries(limits)).toEqual({
      [`${settings('GET')}/rateLimit`]: rate,
      [`${settings('GET')}/burstLimit`]: burst,
      [`${settings('HEAD')}/rateLimit`]: rate,
      [`${settings('HEAD')}/burstLimit`]: burst,
    });
  });

  it('says that there is nothing to change, and does not ask', async () => {
    const { error, printed, questions } = await operate('open', 'staging');
    expect(error).toBe('');
    expect(printed.at(-1)).toBe('There is nothing to change');
    expect(questions).toEqual([]);
  });

  const active = { TableName: 'Pets', TableStatus: 'ACTIVE' };
  const activeAs = (TableStatus: string) => json({ Table: { ...active, TableStatus } });
  const notFound = jsonError('ResourceNotFoundException');
  /** Returns these responses one after the other, and the last one from then on. */
  const inOrder = (...responses: AwsResponse[]) => {
    let next = 0;
    return () => responses[Math.min(next++, responses.length - 1)] ?? json({});
  };
  const recovery = (description: object, PointInTimeRecoveryStatus = 'ENABLED') => {
    const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus, ...description };
    return json({ ContinuousBackupsDescription: { PointInTimeRecoveryDescription } });
  };
  const recoveryUntil = (latest: string) =>
    recovery({
      EarliestRestorableDateTime: 0,
      LatestRestorableDateTime: Date.parse(latest) / 1_000,
    });
  const requestsOf = (action: string) =>
    aws.requests.filter((request) => request.action === action).map(({ body }) => JSON.parse(body));

  it.each([
    ['Pets', 'remove-item pets 7', /Pets is being deleted: .* restore pets/],
    ['Pets', 'copy-back pets Pets-20260131T030000Z', /Pets is being deleted: .* restore pets/],
    ['Pets-20260131T030000Z', 'copy-back pets Pets-20260131T030000Z', /deleted: make a copy/],
    ['Pets-20260131T030000Z', 'restore-copy pets 2026-01-31T03:00:00Z', /deleted: take a time/],
  ])('does not wait for %s, which is being deleted: %s', async (TableName, words, message) => {
    aws.respond({
      DescribeTable: (body) => {
        const isDeleted = JSON.parse(body).TableName === TableName;
        return activeAs(isDeleted ? 'DELETING' : 'ACTIVE');
      },
      DescribeContinuousBackups: recoveryUntil('2026-01-31T03:00:01Z'),
    });
    expect(await operate(words, 'staging')).toMatchObject({
      error: expect.stringMatching(message),
      questions: [],
    });
  });

  const { read: MaxReadRequestUnits, write: MaxWriteRequestUnits } = maximumUnitsOf(
    staging,
    tables.pets.id,
  );
  const OnDemandThroughput = { MaxReadRequestUnits, MaxWriteRequestUnits };
  /** The table of pets as the stack declares it. */
  const settled = {
    ...active,
    OnDemandThroughput,
    GlobalSecondaryIndexes: tables.pets.indexes.map(({ name }) => ({
      ...{ IndexName: name, IndexStatus: 'ACTIVE', OnDemandThroughput },
    })),
  };
  const withAllSettings: Responses = {
    ListTagsOfResource: json({
      Tags: Object.entries(stageTags(staging)).map(([Key, Value]) => ({ Key, Value })),
    }),
    DescribeContinuousBackups: recovery({ RecoveryPeriodInDays: staging.pointInTimeRecoveryDays }),
  };

  it('copies a table as of a time, as soon as its recovery has reached the time', async () => {
    const copied = inOrder(notFound, activeAs('CREATING'), activeAs('ACTIVE'));
    aws.respond({
      DescribeTable: (body) => (body.includes('Pets-') ? copied() : json({ Table: active })),
      DescribeContinuousBackups: inOrder(
        recoveryUntil('2026-01-31T02:59:59Z'),
        recoveryUntil('2026-01-31T02:59:59Z'),
        recoveryUntil('2026-01-31T03:00:01Z'),
      ),
      RestoreTableToPointInTime: json({}),
    });
    const { error, printed } = await operate('restore-copy pets 2026-01-31T03:00:00Z', 'staging');
    expect(error).toBe('');
    expect(requestsOf('RestoreTableToPointInTime')).toMatchObject([
      { SourceTableName: 'Pets', TargetTableName: 'Pets-20260131T030000Z' },
    ]);
    const text = printed.join('\n');
    expect(text).toContain('Waiting for at most 15m: Recovery has not reached');
    expect(text).toContain('Waiting for at most 1d: The table Pets-20260131T030000Z is CREATING');
    expect(text).toContain('copy-back pets Pets-20260131T030000Z --stage staging');
  });

  it('copies nothing back before the copy is complete', async () => {
    const copied = inOrder(activeAs('CREATING'), activeAs('CREATING'), activeAs('ACTIVE'));
    aws.respond({
      DescribeTable: (body) => (body.includes('Pets-') ? copied() : json({ Table: active })),
      Scan: json({ Items: [] }),
    });
    const { printed } = await operate('copy-back pets Pets-20260131T030000Z', 'staging');
    expect(printed[0]).toBe('Waiting for at most 1d: The table Pets-20260131T030000Z is CREATING');
    expect(printed.at(-1)).toBe('There is nothing to change');
  });

  it('suggests commands for the emulator', async () => {
    aws.respond({ DescribeTable: notFound });
    const { error } = await operate('remove-item pets 7 --emulator', 'staging');
    expect(error).toMatch(/operate -- restore pets --stage staging --emulator$/);
  });

  it('says that a table without recovery has no earlier times', async () => {
    aws.respond({ DescribeContinuousBackups: json({}) });
    const words = 'restore-copy pets 2026-01-31T03:00:00Z';
    const { error } = await operate(words, 'staging');
    expect(error).toMatch(/Pets has no point-in-time recovery.*pointInTimeRecoveryDays/);
    const personal = await operate(`${words} --stage dev-alice`, 'dev-alice');
    expect(personal.error).toMatch(/Pets has no point-in-time recovery.*Personal stages have none/);
  });

  it('refuses a copy as of a time before the recovery of the table, with the time', async () => {
    aws.respond({
      DescribeTable: (body) => (body.includes('Pets-') ? notFound : json({ Table: active })),
      DescribeContinuousBackups: recoveryUntil('2026-01-31T03:00:01Z'),
    });
    const words = 'restore-copy pets 1969-12-31T03:00:00Z';
    const { error, questions } = await operate(words, 'staging');
    expect(error).toMatch(/Pets can only be copied as of 1970-01-01T00:00:00.000Z and later/);
    expect(questions).toEqual([]);
    const existing = json({ Table: active });
    aws.respond({ DescribeTable: existing });
    expect((await operate(words, 'staging')).error).toBe('');
  });

  const arnOf = (at: number) => `arn:aws:dynamodb:eu-west-1:${account}:table/Pets/backup/${at}`;
  const backup = (at: number, BackupType = 'USER') => ({
    ...{ BackupArn: arnOf(at), BackupType, BackupStatus: 'AVAILABLE' },
    BackupCreationDateTime: at,
  });
  const withBackups = (...pages: object[][]) => {
    aws.respond({
      DescribeTable: notFound,
      ListBackups: inOrder(
        ...pages.map((BackupSummaries, at) =>
          json({ BackupSummaries, ...(at < pages.length - 1 && { LastEvaluatedBackupArn: 'a' }) }),
        ),
      ),
      DescribeBackup: json({
        BackupDescription: {
          SourceTableDetails: { TableName: 'Pets' },
          BackupDetails: pages[0]?.[0],
        },
      }),
    });
  };

  it('restores a table that is gone from its only backup, and says that one of its deletion has the damage', async () => {
    withBackups([backup(1, 'SYSTEM'), { ...backup(2), BackupStatus: 'DELETED' }]);
    const DescribeTable = inOrder(activeAs('DELETING'), notFound);
    aws.respond({ DescribeTable });
    const { printed } = await operate('restore pets', 'no');
    expect(printed[0]).toMatch(/Waiting for at most 1h: The table Pets is being deleted/);
    expect(printed.join()).toContain(`RestoreTableFromBackup {"BackupArn":"${arnOf(1)}"`);
    expect(printed.join()).toMatch(/SYSTEM .* when it was deleted, with any damage/);
  });

  it('lists several backups, because that of the deletion has the damage, and lets you choose', async () => {
    withBackups([backup(1)], [backup(2, 'SYSTEM')]);
    const { printed, error, questions } = await operate('restore pets', 'staging');
    expect(error).toMatch(/Pets has 2 backups: choose one with --backup/);
    expect(printed.join('\n')).toMatch(/T00:00:01.*USER.*\/1\n.*T00:00:02.*SYSTEM.*\/2$/);
    expect(questions).toEqual([]);
    const chosen = await operate(`restore pets --backup ${arnOf(1)}`, 'no');
    expect(chosen.printed.join()).toContain(`RestoreTableFromBackup {"BackupArn":"${arnOf(1)}"`);
  });

  /** Lets the table appear when its restoration begins, whose response is lost, and refuses it from then on. */
  const withLostResponse = (refusal: string, Table: object) => {
    const requests = () => requestsOf('RestoreTableFromBackup').length;
    const creating = json({ Table: { ...Table, TableStatus: 'CREATING' } });
    const restored = inOrder(creating, creating, json({ Table }));
    aws.respond({
      DescribeTable: () => (requests() > 0 ? restored() : notFound),
      RestoreTableFromBackup: () => (requests() > 1 ? jsonError(refusal) : json({}, 500)),
      ...withAllSettings,
    });
  };

  it.each(['TableAlreadyExistsException', 'TableInUseException', 'BackupInUseException'])(
    'goes on when the response of a restoration is lost, and the next one is %s',
    async (refusal) => {
      withBackups([backup(1)]);
      for (const RestoreSummary of [undefined, { SourceBackupArn: arnOf(1) }]) {
        aws.requests.length = 0;
        withLostResponse(refusal, { ...active, OnDemandThroughput, RestoreSummary });
        const { error, printed } = await operate(`restore pets --backup ${arnOf(1)}`, 'staging');
        expect(error).toBe('');
        expect(printed.join()).toContain('Waiting for at most 1d: The table Pets is CREATING');
        expect(printed.join()).toContain(`Pets lacks the index ${tables.pets.indexes[0].name}`);
        expect(printed.at(-1)).toBe('Step 2 is done');
      }
      aws.requests.length = 0;
      withLostResponse(refusal, { ...settled, RestoreSummary: { SourceBackupArn: arnOf(9) } });
      const { error } = await operate(`restore pets --backup ${arnOf(1)}`, 'staging');
      expect(error).toContain(`from another backup, ${arnOf(9)}`);
    },
  );

  it('compares the settings when a restoration is repeated, and says that it restores no items', async () => {
    aws.respond(withAllSettings);
    for (const SourceBackupArn of [undefined, arnOf(1), arnOf(9)]) {
      const RestoreSummary = SourceBackupArn && { SourceBackupArn };
      aws.respond({ DescribeTable: json({ Table: { ...settled, RestoreSummary } }) });
      const { error, printed } = await operate(`restore pets --backup ${arnOf(1)}`, 'staging');
      const text = printed.join('\n');
      expect(error).toBe('');
      expect(text).toMatch(/items stay as they are, and none is restored/);
      expect(text.includes(`from another backup, ${arnOf(9)}`)).toBe(SourceBackupArn === arnOf(9));
      expect(printed.at(-1)).toBe('There is nothing to change');
    }
  });

  it('goes on when the response of a copy is lost', async () => {
    const requests = () => requestsOf('RestoreTableToPointInTime').length;
    aws.respond({
      DescribeTable: (body) =>
        body.includes('Pets-') && requests() === 0 ? notFound : json({ Table: active }),
      DescribeContinuousBackups: recoveryUntil('2026-01-31T03:00:01Z'),
      RestoreTableToPointInTime: () =>
        requests() > 1 ? jsonError('TableAlreadyExistsException') : json({}, 500),
    });
    const { error } = await operate('restore-copy pets 2026-01-31T03:00:00Z', 'staging');
    expect(error).toBe('');
  });

  it('restores no backup of another table', async () => {
    withBackups([backup(1)]);
    const BackupDescription = { SourceTableDetails: { TableName: 'Orders' } };
    aws.respond({ DescribeBackup: json({ BackupDescription }) });
    const { error, questions } = await operate(`restore pets --backup ${arnOf(1)}`, 'staging');
    expect(error).toMatch(/one of Orders, and not of Pets/);
    expect(questions).toEqual([]);
  });

  it('says what is left to do without a backup', async () => {
    withBackups([]);
    const { error } = await operate('restore pets', 'staging');
    expect(error).toMatch(
      /no backup of Pets\. .*AWS Backup: .* name Pets, .*create-backup --region eu-west-1.*--backup.* lost: create an empty table/,
    );
    const copyBack = await operate('copy-back pets Pets-20260131T030000Z', 'staging');
    expect(copyBack.error).toMatch(/Pets is gone: npm run operate -- restore pets/);
  });

  it('says which restored keys can be valid again, and which backup has the state of all', async () => {
    withBackups([backup(1)]);
    aws.respond({ DescribeStacks: stackIn('UPDATE_COMPLETE', { KeysTableName: 'Pets' }) });
    const { printed } = await operate('restore keys', 'no');
    expect(printed.join('\n')).toMatch(
      /revoked, or that a rotation ended, .* valid again, .*issued since are gone.*keys -- list --stage staging/,
    );
    withBackups([backup(1), backup(2, 'SYSTEM')]);
    const { error } = await operate('restore keys', 'staging');
    expect(error).toMatch(/SYSTEM .* damage .* every revocation and rotation/);
  });

  it('does not wait for a stack that was never created', async () => {
    aws.respond({ DescribeStacks: stackIn('REVIEW_IN_PROGRESS') });
    const { error } = await operate('restore pets', 'staging');
    expect(error).toMatch(/no output PetsTableName: deploy it first/);
  });

  it('restores nothing while the stack is being changed', async () => {
    withBackups([backup(1)]);
    aws.respond({ DescribeStacks: stackIn('UPDATE_IN_PROGRESS') });
    const { error } = await operate('restore pets', 'staging');
    expect(error).toMatch(/being changed \(UPDATE_IN_PROGRESS\)/);
  });

  it('gives a table that exists its other settings when AWS lets it, and says which index it lacks', async () => {
    const { deletionProtection } = staging;
    const withIndex = (IndexStatus: string) => ({
      ...{ ...active, OnDemandThroughput, DeletionProtectionEnabled: !deletionProtection },
      GlobalSecondaryIndexes: [{ IndexName: 'byAge', IndexStatus }],
    });
    const Table = withIndex('ACTIVE');
    const creating = activeAs('CREATING');
    const indexing = json({ Table: withIndex('CREATING') });
    aws.respond({
      DescribeTable: inOrder(creating, creating, indexing, json({ Table })),
      ListTagsOfResource: json({ Tags: [{ Key: 'stage', Value: 'qa' }] }),
      TagResource: json({}),
      UpdateTable: json({}),
      DescribeContinuousBackups: recovery(
        { RecoveryPeriodInDays: staging.pointInTimeRecoveryDays },
        'DISABLED',
      ),
      UpdateContinuousBackups: inOrder(
        jsonError('ContinuousBackupsUnavailableException'),
        json({}),
      ),
    });
    const { error, printed } = await operate('restore pets', 'staging');
    expect(error).toBe('');
    expect(printed[0]).toBe('Waiting for at most 1d: The table Pets is CREATING');
    expect(printed[1]).toBe('Waiting for at most 1d: Its index byAge is CREATING');
    expect(printed.join('\n')).toContain(`Pets lacks the index ${tables.pets.indexes[0].name}`);
    expect(printed.join('\n')).toMatch(/table exists: only its settings are compared/);
    expect(printed.join('\n')).toMatch(
      /Waiting for at most 1h: DynamoDB UpdateContinuousBackups: ContinuousBackupsUnavailable/,
    );
    expect(requestsOf('TagResource')).toHaveLength(1);
    expect(requestsOf('UpdateContinuousBackups')).toHaveLength(2);
    const GlobalSecondaryIndexUpdates = [{ Update: { IndexName: 'byAge', OnDemandThroughput } }];
    expect(requestsOf('UpdateTable')).toEqual([
      { TableName: 'Pets', DeletionProtectionEnabled: deletionProtection },
      { TableName: 'Pets', OnDemandThroughput, GlobalSecondaryIndexUpdates },
    ]);
  });

  it('shows what AWS or a table says without what a terminal would obey', async () => {
    const forged = 'Pets\u001b]0;title\u0007\nerror: forged';
    const shown = 'Pets\\u001b]0;title\\u0007\\u000aerror: forged';
    const ask = vi.fn(async () => '');
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    const place = { stage: { name: forged }, account: '', region: '' };
    const plan = { notices: [], steps: [{ description: forged, run: async () => {} }] };
    await perform(place, plan, { ask }).catch(() => {});
    expect(ask).toHaveBeenCalledWith(expect.stringContaining(shown));
    expect(printed).toHaveBeenCalledWith(`1. ${shown}`);
    expect(printed).toHaveBeenCalledWith(expect.stringContaining(shown));
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    fail(new AggregateError([new Error(forged), 'another']));
    process.exitCode = 0;
    expect(failed.mock.calls).toEqual([[`error: ${shown}`], ['error: another']]);
  });
});
