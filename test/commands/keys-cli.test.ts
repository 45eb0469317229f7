import { createServer } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { keysProgram } from '../../infra/commands/keys.ts';
import { openStage } from '../../infra/commands/shared/open-stage.ts';
import { localClientConfig, localCredentials } from '../../infra/local/local-account.ts';
import { localStage } from '../../infra/local/local-stage.ts';
import { prod, staging } from '../../infra/settings/stages.ts';
import { type Grants, keyAdministration } from '../../lib/keys/key-administration.ts';
import {
  caller,
  json,
  jsonError,
  noStack,
  stackIn,
  startAwsEndpoint,
} from '../support/aws-endpoint.ts';
import { awsError, FaultProxy, faults, passOnAfter } from '../support/fault-proxy.ts';
import { sendTo } from '../support/http-client.ts';
import { listen } from '../support/listen.ts';
import { shared } from '../support/shared.ts';
import { runCommand } from './run-command.ts';

const dynamodb = shared('dynamodb');
const proxy = new FaultProxy(dynamodb.dynamodbEndpoint);
const local = ['--endpoint', await proxy.listen()];
afterAll(() => proxy.refuseConnections());
beforeEach(() => proxy.reset());

/** Runs `npm run keys --` with an answer to its question. `error` is the error that ended it. */
const run = async (words: readonly string[], answer?: boolean) => {
  const ask = vi.fn(async () => (answer ? localStage.name : ''));
  const program = keysProgram(answer === undefined ? undefined : ask);
  return { ...(await runCommand(program, words)), questions: ask.mock.calls };
};

const keys = (words: readonly string[], answer?: boolean) => run([...words, ...local], answer);

const keysTable = dynamodb.tables['KEYS_TABLE']?.TableName ?? '';
const document = DynamoDBDocument.from(
  new DynamoDBClient(localClientConfig(dynamodb.dynamodbEndpoint)),
);
const storedKeys = keyAdministration(document, keysTable, staging.apiKeyPrefix);

const issue = async (...words: string[]) =>
  JSON.parse((await keys(['issue', '--owner', 'alice', '--json', ...words])).out);

/** Grants that no other key of these tests has. A kind of grant that is missing here is a type error. */
const grants: Required<Grants> = { owner: 'owner of many grants', lifetimeMs: 86_400_001 };

const updateCall = `UpdateItem ${keysTable}`;
/** A transaction names its tables inside. */
const rotateCall = 'TransactWriteItems undefined';

const statusWith = async (apiKey: string) => {
  const headers = [['Authorization', `Bearer ${apiKey}`]] as const;
  return (await sendTo(shared('baseAddress'), { path: '/pets', headers })).status;
};

const listed = async (keyId: string) =>
  JSON.parse((await keys(['list', '--json'])).out).find(
    (record: { keyId: string }) => record.keyId === keyId,
  );

const lifetimeDays = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
  expiresAt && Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000);

describe('npm run keys', () => {
  it('lists id, owner, last four characters and times of a key, and nothing of its secret', async () => {
    const { apiKey, keyId } = await issue('--expires-in', '90d');
    const record = await listed(keyId);
    const time = expect.stringMatching(/Z$/);
    expect(record).toEqual({
      ...{ keyId, owner: 'alice', lastFour: apiKey.slice(-4), state: 'valid' },
      ...{ createdAt: time, expiresAt: time, revokedAt: null, successor: null },
    });
    expect(lifetimeDays(record)).toBe(90);
  });

  it('lists the other keys in a table when one is malformed, names it, and does not rotate it', async () => {
    await document.put({ TableName: keysTable, Item: { keyId: 'malformed' } });
    const { keyId, lastFour } = await issue();
    const { out, err } = await keys(['list']);
    expect(out).toMatch(/^keyId +owner +lastFour +state +/);
    expect(out).toMatch(new RegExp(`^${keyId} +alice +${lastFour} +valid +\\S+Z$`, 'm'));
    expect(err).toMatch(/"malformed".*corrupt-item/);
    expect((await keys(['rotate', 'malformed'])).error).toMatch(/malformed/);
  });

  it('lists the oldest key first', async () => {
    for (let issued = 0; issued < 5; issued += 1) await issue();
    const { out } = await keys(['list', '--json']);
    const times = JSON.parse(out).map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual(times.toSorted());
  });

  it('says that a key is unknown when its item is removed before it is changed', async () => {
    for (const [words, call] of [
      [['revoke', '--yes'], updateCall],
      [['rotate'], rotateCall],
    ] as const) {
      const { keyId } = await issue();
      const remove = () => document.delete({ TableName: keysTable, Key: { keyId } });
      proxy.inject(call, passOnAfter(remove), 1);
      const { error } = await keys([...words, keyId]);
      expect(error).toContain(`no key ${keyId}`);
      expect(await listed(keyId)).toBeUndefined();
    }
  });

  it('sees what was written just before: it reads keys consistently', async () => {
    const { keyId } = await issue();
    const reads: unknown[] = [];
    const note = passOnAfter(({ request }) => {
      reads.push(JSON.parse(request.toString()).ConsistentRead);
    });
    for (const call of [`Scan ${keysTable}`, `GetItem ${keysTable}`]) proxy.inject(call, note);
    await keys(['list']);
    await keys(['rotate', keyId]);
    expect(reads).toEqual([true, true]);
  });

  it('changes nothing of a key that is rotated or revoked after it was read', async () => {
    const { keyId } = await issue('--owner', 'owner of three keys');
    const rotate = () => storedKeys.rotate(keyId, { graceMs: 60_000, again: true });
    const revoke = () => storedKeys.revoke(keyId);
    // The second rotation replaces a successor.
    for (const change of [rotate, rotate, revoke]) {
      proxy.inject(rotateCall, passOnAfter(change), 1);
      const { out, error } = await keys(['rotate', keyId, '--again']);
      const { state, successor } = await listed(keyId);
      expect(error).toMatch(change === revoke ? /no longer in force/ : `already, to ${successor}`);
      expect({ out, state }).toEqual({ out: '', state: change === revoke ? 'revoked' : 'valid' });
    }
    expect((await keys(['list'])).out.match(/owner of three keys/g)).toHaveLength(3);
  });

  it('names the successor that stays valid when a key is revoked, also one that was issued just before', async () => {
    const { keyId } = await issue();
    const rotate = () => storedKeys.rotate(keyId, { graceMs: 60_000 });
    proxy.inject(updateCall, passOnAfter(rotate), 1);
    const { out } = await keys(['revoke', keyId, '--yes']);
    const { successor } = await listed(keyId);
    expect(out).toMatch(new RegExp(`Revoked ${keyId}\n.*${successor}.* valid`));
    await keys(['revoke', successor, '--yes']);
    expect((await keys(['revoke', keyId, '--yes'])).out).toBe(`Revoked ${keyId}\n`);
    await document.delete({ TableName: keysTable, Key: { keyId: successor } });
    expect(await keys(['revoke', keyId, '--yes'])).toMatchObject({
      error: '',
      out: `Revoked ${keyId}\n`,
    });
  });

  it('rotates a key once when the response is lost', async () => {
    const { keyId } = await issue('--owner', 'owner of two keys');
    proxy.inject(rotateCall, faults.resetAfterForwarding, 1);
    const { apiKey, ...successor } = JSON.parse((await keys(['rotate', keyId, '--json'])).out);
    expect(await statusWith(apiKey)).toBe(200);
    expect((await listed(keyId)).successor).toBe(successor.keyId);
    const { out } = await keys(['list']);
    expect(out.match(/owner of two keys/g)).toHaveLength(2);
  });

  it('says to rotate a key again that another transaction changes at that moment', async () => {
    const { keyId } = await issue();
    const CancellationReasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
    const conflict = awsError(400, 'TransactionCanceledException', { CancellationReasons });
    proxy.inject(rotateCall, conflict, 1);
    const error = expect.stringMatching(`${keyId}.*the same command again`);
    expect(await keys(['rotate', keyId])).toMatchObject({ out: '', error });
    expect((await keys(['rotate', keyId])).error).toBe('');
  });

  it.each([
    ['the lifetime of the key', ['--expires-in', '90d'], [], 90],
    ['the lifetime that --expires-in names', ['--expires-in', '90d'], ['--expires-in', '30d'], 30],
    ['an end that --expires-in names', [], ['--expires-in', '30d'], 30],
    ['no end when the key has none', [], [], null],
  ])('rotates a key after 30 days: the successor gets %s', async (_what, issued, rotated, days) => {
    const { apiKey, keyId, expiresAt } = await issue(...issued);
    if (expiresAt !== null)
      await document.update({
        TableName: keysTable,
        Key: { keyId },
        UpdateExpression: 'SET expiresAt = :sooner',
        ExpressionAttributeValues: {
          ':sooner': new Date(Date.parse(expiresAt) - 30 * 86_400_000).toISOString(),
        },
      });
    const successor = JSON.parse((await keys(['rotate', keyId, '--json', ...rotated])).out);
    expect(lifetimeDays(successor)).toBe(days);
    const { expiresAt: graceEnd } = successor.previous;
    expect(lifetimeDays({ ...successor, expiresAt: graceEnd }), 'grace').toBe(7);
    expect(await statusWith(apiKey)).toBe(200);
  });

  it('rotates a key to one that grants the same', async () => {
    const { apiKey, record } = await storedKeys.issue(grants);
    const rotated = await storedKeys.rotate(record.keyId, { graceMs: 0 });
    expect(rotated.apiKey).not.toBe(apiKey);
    expect(await storedKeys.find(rotated.record.keyId)).toMatchObject(grants);
  });

  it('rotates a key twice only with --again: the successor gets the lifetime of the key', async () => {
    const { keyId } = await issue('--expires-in', '90d');
    const first = JSON.parse((await keys(['rotate', keyId, '--grace', '1h', '--json'])).out);
    const error = expect.stringMatching(`${first.keyId}.*--again`);
    expect(await keys(['rotate', keyId])).toMatchObject({ out: '', error });
    const second = JSON.parse((await keys(['rotate', keyId, '--again', '--json'])).out);
    expect(lifetimeDays(second)).toBe(90);
    const { expiresAt, successor } = await listed(keyId);
    expect(successor).toBe(second.keyId);
    expect(second.previous).toEqual({ keyId, expiresAt });
    expect(second.previous).toEqual(first.previous);
  });

  it('prints a key that works, when it ends, and the key that it replaces', async () => {
    const unlimited = await keys(['issue', '--owner', 'alice']);
    expect(unlimited.out).toMatch(/not end/);
    expect(await statusWith(unlimited.out.split('\n')[0] ?? '')).toBe(200);
    const { keyId, expiresAt } = await issue('--expires-in', '90d');
    const limited = await keys(['rotate', keyId, '--grace', '100d', '--expires-in', '1d']);
    const [, successor, replaced] = limited.out.split('\n');
    expect(successor).toMatch(/\d{4}-.*Z/);
    expect(replaced).toMatch(new RegExp(`${keyId}.* ${expiresAt}`));
  });

  it('revokes a key after the stage is typed, and not otherwise', async () => {
    const { apiKey, keyId } = await issue();
    const { error, err, questions } = await keys(['revoke', keyId], false);
    expect(error).toMatch(/Nothing/);
    expect(questions).toEqual([[expect.stringContaining(localStage.name)]]);
    expect(err).toMatch(new RegExp(`${keyId} of "alice"`));
    const whole = await keys(['revoke', apiKey, '--yes']);
    expect(whole.error).toMatch(/pets_test_<id>_/);
    expect(JSON.stringify(whole)).not.toContain(apiKey.slice(27));
    expect((await listed(keyId)).revokedAt).toBeNull();
    expect((await keys(['revoke', keyId], true)).error).toBe('');
    expect(await statusWith(apiKey)).toBe(401);
    expect((await keys(['rotate', keyId])).error).toMatch(/no longer in force/);
    const { revokedAt } = await listed(keyId);
    expect((await keys(['revoke', keyId, '--yes'])).error).toBe('');
    expect((await listed(keyId)).revokedAt).toBe(revokedAt);
  });

  // A terminal obeys these characters, hides them, or shows what follows in another direction.
  const unprintable = [
    ...['000A', '001B', '007F', '009B', '00A0', '00AD', '200B', '202E', '2028'],
    ...['2800', '3164', 'FE0F', 'E0041'],
  ].map((code) => String.fromCodePoint(Number.parseInt(code, 16)));

  it('refuses an owner that a terminal would not show as it is', async () => {
    for (const character of unprintable) {
      const error = expect.stringMatching(/owner.* character/);
      const result = await keys(['issue', '--owner', `alice${character}bob`]);
      expect(result).toMatchObject({ error, out: '', err: '' });
    }
  });

  it('escapes a stored owner', async () => {
    const owner = `"${unprintable.join('x')}`;
    const { keyId } = (await storedKeys.issue({ owner })).record;
    const { err } = await keys(['revoke', keyId], false);
    expect(err).toMatch(/"\\".+"/);
    const results = [await keys(['list']), await keys(['rotate', keyId, '--json'])];
    const printed = [err, ...results.map(({ out }) => out)].join('');
    for (const character of unprintable)
      expect(printed.replaceAll('\n', '')).not.toContain(character);
    expect(await listed(keyId)).toMatchObject({ owner });
  });

  const unknown = '0000000000000000';
  it.each([
    [`revoke ${unknown}`, /no key 0000000000000000/],
    [`rotate ${unknown}`, /no key 0000000000000000/],
    [`rotate ${unknown} --grace 101y`, /up to 100y/],
    ['issue', /--owner/],
    ['issue --owner=', /It must not be empty/],
    ['issue --owner alice --expires-in soon', /duration/],
    ['issue --owner alice --expires-in 0', /duration/],
    ['issue --for-probe', /has no probe/],
    ['issue --for-probe --owner alice', /Leave out --owner/],
    ['list --stage prod', /--endpoint is for local keys: leave out --stage/],
    ['list --endpoint localhost:8000', /It must be a URL/],
    ['forget', /unknown command/],
  ])('says what is wrong, without asking: %s', async (command, message) => {
    const [name = '', ...words] = command.split(' ');
    const error = expect.stringMatching(message);
    const result = await run([name, ...local, ...words]);
    expect(result).toEqual({ error, out: '', err: '', questions: [] });
  });
});

it('npm run keys --endpoint says that a server is not DynamoDB, or that there is none', async () => {
  const server = createServer((_request, response) => response.end('<!DOCTYPE html>'));
  onTestFinished(() => void server.close());
  for (const port of [await listen(server), 1]) {
    const endpoint = `http://127.0.0.1:${port}`;
    const { error, out } = await run(['list', '--endpoint', endpoint]);
    expect(error).toContain(`${endpoint} is not DynamoDB`);
    expect(out).toBe('');
  }
});

describe('npm run keys of a deployed stage', async () => {
  const aws = await startAwsEndpoint();

  // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
  const account = staging.env?.account ?? '777777777777';

  beforeEach(() => {
    aws.responses = {
      ...caller(account),
      DescribeStacks: stackIn('UPDATE_COMPLETE', { KeysTableName: keysTable }),
      PutParameter: json({ Version: 1 }),
    };
    vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', dynamodb.dynamodbEndpoint);
    vi.stubEnv('AWS_REGION', 'us-east-1');
  });

  it('refuses credentials of another account, and asks in the region of the stage', async () => {
    aws.responses = caller('123456789012');
    const env = { account, region: 'eu-west-1' };
    const opening = openStage({ ...prod, env });
    await expect(opening).rejects.toThrow(new RegExp(`123456789012.*${account}`));
    expect(aws.requests.map(({ region }) => region)).toEqual(['eu-west-1']);
  });

  it.each([-3, 3])('takes no time from a clock that is wrong by %i hours', async (hours) => {
    const now = Date.now();
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime(now + hours * 3_600_000);
    const json = async (...words: string[]) =>
      JSON.parse((await run([...words, '--json', '--stage', 'dev-alice'])).out);
    const issued = await json('issue', '--owner', 'alice', '--expires-in', '1h');
    const rotated = await json('rotate', issued.keyId, '--grace', '30m');
    const ended = await json('issue', '--owner', 'alice');
    await json('rotate', ended.keyId, '--grace', '0');
    const revoked = await json('revoke', issued.keyId, '--yes');
    const records: { keyId: string; state: string; revokedAt: string }[] = await json('list');
    const find = (id: string) => records.find((each) => each.keyId === id);

    const hoursUntil = (time = '') => (Date.parse(time) - now) / 3_600_000;
    expect(hoursUntil(issued.createdAt)).toBeCloseTo(0, 1);
    expect(hoursUntil(issued.expiresAt)).toBeCloseTo(1, 1);
    expect(hoursUntil(rotated.expiresAt)).toBeCloseTo(1, 1);
    expect(hoursUntil(rotated.previous.expiresAt)).toBeCloseTo(0.5, 1);
    expect(hoursUntil(find(issued.keyId)?.revokedAt)).toBeCloseTo(0, 1);
    expect(revoked.successor).toBe(rotated.keyId);
    expect([rotated, ended].map((key) => find(key.keyId)?.state)).toEqual(['valid', 'ended']);
    expect(await statusWith(rotated.apiKey)).toBe(200);
    expect(await statusWith(ended.apiKey)).toBe(401);
  });

  it('says that there is no such stage, and where', async () => {
    aws.respond({ DescribeStacks: noStack });
    const { error } = await run(['list', '--stage', 'dev-alyce']);
    expect(error).toMatch(new RegExp(`dev-alyce.*${account}.*us-east-1`));
    const described = aws.requests.find(({ action }) => action === 'DescribeStacks');
    expect(described?.body).toContain('StackName=AnimalStore-dev-alyce');
    expect(described?.region).toBe('us-east-1');
  });

  it.each(['GetCallerIdentity', 'DescribeStacks'])(
    'does not take the page of a proxy for a response: %s',
    async (call) => {
      aws.respond({ [call]: [200, '<html>Welcome</html>'] });
      const { error } = await run(['list', '--stage', 'dev-alice']);
      expect(error).toMatch(new RegExp(`${call}.* proxy`));
      expect(error).not.toContain('There is no stage');
    },
  );

  const sent = (call: string) =>
    JSON.parse(aws.requests.findLast(({ action }) => action === call)?.body ?? '{}');
  const stored = () => sent('PutParameter');
  const probeKey = async (...words: string[]) => {
    const result = await run([...words, '--stage', 'staging']);
    const apiKey = stored().Value;
    expect(apiKey).toMatch(/^pets_test_/);
    expect(JSON.stringify(result)).not.toContain(apiKey.slice(27));
    return { ...result, apiKey };
  };

  it('stores the key of the probe as a SecureString, and its successor, and never prints them', async () => {
    const issued = await probeKey('issue', '--for-probe', '--json');
    const { keyId, owner } = JSON.parse(issued.out);
    expect(owner).toBe('probe');
    const { out, apiKey } = await probeKey('rotate', keyId);
    expect(apiKey).not.toBe(issued.apiKey);
    expect(out).toContain('/animal-store/staging/probe-api-key');
    // https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
    const Name = '/animal-store/staging/probe-api-key';
    expect(stored()).toEqual({ Name, Value: apiKey, Type: 'SecureString', Overwrite: true });
    expect(await statusWith(apiKey)).toBe(200);
  });

  it('stores no key for the probe of an emulated stage, which has none', async () => {
    const { error } = await run(['issue', '--for-probe', '--stage', 'staging', '--emulator']);
    expect(error).toMatch(/has no probe/);
    expect(aws.requests).toEqual([]);
  });

  it('names the key that could not be stored, and says to rotate it', async () => {
    aws.respond({ PutParameter: jsonError('AccessDeniedException') });
    const { out, error } = await probeKey('issue', '--for-probe');
    expect(error).toMatch(/\w{16}.* rotate.*AccessDenied/);
    expect(out).toBe('');
  });
});
