import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, it } from 'vitest';
import { prod } from '../../infra/stages.ts';
import { sendTo } from '../support/http-client.ts';

/** Runs `npm run keys --` on the local service's table, with an answer for what it asks. */
const keys = async (words: readonly string[], answer = '') => {
  const endpoint = inject('dynamodb')?.dynamodbEndpoint ?? '';
  const child = spawn(
    process.execPath,
    ['infra/commands/keys.ts', ...words, '--stage', 'staging', '--endpoint', endpoint],
    { stdio: 'pipe' },
  );
  child.stdin.end(answer);
  const [out, err, exitCode] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { out, err, exitCode };
};

const issue = async (...words: string[]) => {
  const { out } = await keys(['issue', '--owner', 'alice', '--json', ...words]);
  return JSON.parse(out);
};

const statusWith = async (apiKey: string) =>
  (
    await sendTo(inject('baseAddress'), {
      path: '/pets',
      headers: [['Authorization', `Bearer ${apiKey}`]],
    })
  ).status;

const listed = async (keyId: string) => {
  const { out } = await keys(['list', '--json']);
  return JSON.parse(out).find((record: { keyId: string }) => record.keyId === keyId);
};

describe('npm run keys', () => {
  it('issues a key that works, printed once, and logs the act without it', async () => {
    const { out, err, exitCode } = await keys(['issue', '--owner', 'alice']);
    const [apiKey = ''] = out.split('\n');
    expect(exitCode).toBe(0);
    expect(await statusWith(apiKey)).toBe(200);
    expect(JSON.parse(err)).toMatchObject({ act: 'issue', stage: 'staging', owner: 'alice' });
    expect(err).not.toContain(apiKey);
    const table = await keys(['list']);
    expect(table.out).toContain(apiKey.split('_')[2]);
    expect(table.out).not.toContain(apiKey.slice(27, 60));
  });

  it('lists id, owner, last four characters and times of a key, and nothing of its secret', async () => {
    const { apiKey, keyId } = await issue('--expires-in', '90d');
    const record = await listed(keyId);
    expect(record).toEqual({
      keyId,
      owner: 'alice',
      lastFour: apiKey.slice(-4),
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      revokedAt: null,
    });
    const lifetime = Date.parse(record.expiresAt) - Date.parse(record.createdAt);
    expect(Math.round(lifetime / 86_400_000)).toBe(90);
  });

  it('rotates a key: the successor has its owner, the key lives on for the time of grace', async () => {
    const { apiKey, keyId } = await issue();
    const { out, exitCode } = await keys(['rotate', keyId, '--grace', '1h', '--json']);
    expect(exitCode).toBe(0);
    const successor = JSON.parse(out);
    expect(successor.owner).toBe('alice');
    expect(await statusWith(successor.apiKey)).toBe(200);
    expect(await statusWith(apiKey)).toBe(200);
    const inHours = (Date.parse((await listed(keyId)).expiresAt) - Date.now()) / 3_600_000;
    expect(inHours).toBeGreaterThan(0.9);
    expect(inHours).toBeLessThanOrEqual(1);
  });

  it('rotates a key without grace, which ends at once and can not be rotated again', async () => {
    const { apiKey, keyId } = await issue();
    await keys(['rotate', keyId, '--grace', '0']);
    expect(await statusWith(apiKey)).toBe(401);
    const again = await keys(['rotate', keyId]);
    expect(again).toMatchObject({ exitCode: 1, out: '' });
    expect(again.err).toMatch(/^error: .*no longer in force/);
  });

  it.each([
    ['the lifetime of the key', ['--expires-in', '90d'], [], 90],
    ['the lifetime that --expires-in names', ['--expires-in', '90d'], ['--expires-in', '30d'], 30],
    ['an end that --expires-in names', [], ['--expires-in', '30d'], 30],
    ['no end when the key has none', [], [], null],
  ])('rotates a key: the successor gets %s', async (_what, issued, rotated, days) => {
    const { keyId } = await issue(...issued);
    const { out } = await keys(['rotate', keyId, '--json', ...rotated]);
    const { createdAt, expiresAt } = JSON.parse(out);
    const lifetime = expiresAt && (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
    expect(lifetime && Math.round(lifetime)).toBe(days);
  });

  it('revokes a key after it was told yes, and not otherwise', async () => {
    const { apiKey, keyId } = await issue();
    expect((await keys(['revoke', keyId], 'n\n')).exitCode).toBe(1);
    expect((await listed(keyId)).revokedAt).toBeNull();
    expect((await keys(['revoke', keyId], 'y\n')).exitCode).toBe(0);
    expect(await statusWith(apiKey)).toBe(401);
    expect((await keys(['revoke', keyId, '--yes'])).exitCode).toBe(0);
  });

  it.each([
    [
      'an unknown key to revoke',
      ['revoke', '0000000000000000', '--yes'],
      /no key 0000000000000000/,
    ],
    ['an unknown key to rotate', ['rotate', '0000000000000000'], /no key 0000000000000000/],
    ['no owner', ['issue'], /--owner/],
    ['a lifetime that is none', ['issue', '--owner', 'alice', '--expires-in', 'soon'], /duration/],
    ['an unknown command', ['forget'], /unknown command/],
  ])('says what is wrong with %s and exits with 1', async (_what, words, message) => {
    const { err, out, exitCode } = await keys(words);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/\n\s+at /);
    expect(out).toBe('');
    expect(exitCode).toBe(1);
  });
});

describe('npm run keys of a deployed stage', () => {
  it('refuses credentials of another account, and asks in the region of the stage', async () => {
    const regions: (string | undefined)[] = [];
    // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
    const aws = createServer((request, response) => {
      regions.push(/\/([\w-]+)\/sts\/aws4_request/.exec(request.headers.authorization ?? '')?.[1]);
      response.end(
        '<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>',
      );
    });
    await once(aws.listen(0, '127.0.0.1'), 'listening');
    const address = aws.address();
    const child = spawn(process.execPath, ['infra/commands/keys.ts', 'list', '--stage', 'prod'], {
      env: {
        AWS_ENDPOINT_URL: `http://127.0.0.1:${typeof address === 'object' && address?.port}`,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
      },
    });
    const [err, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    aws.close();
    expect(err).toBe(
      `error: The credentials belong to the account 123456789012, and the stage to ${prod.environment?.account}\n`,
    );
    expect(exitCode).toBe(1);
    expect(regions).toEqual([prod.environment?.region]);
  });
});
