import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { Command, InvalidArgumentError, Option } from 'commander';
import ms, { type StringValue } from 'ms';
import { type ApiKeyRecord, isInForce } from '../../lib/keys/api-key.ts';
import {
  type IssuedApiKey,
  type RotatedApiKey,
  timeOfAws,
} from '../../lib/keys/key-administration.ts';
import { localStage } from '../local/local-stage.ts';
import { probeKeyParameter } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { toJson, toTable } from './keys/format-output.ts';
import { openLocalKeys } from './keys/local-keys.ts';
import { type DeployedStage, openStage } from './shared/open-stage.ts';
import { perform } from './shared/plan.ts';
import { change, ifOutputIsLost, runProgram } from './shared/run-program.ts';
import { withStage } from './shared/stage-option.ts';
import { type Ask, askInTerminal, isPrintable, messageOf, printable } from './shared/terminal.ts';

interface KeysOptions {
  readonly stage: Stage;
  readonly endpoint?: string;
  readonly json?: true;
  readonly expiresIn?: number;
}

/**
 * The owner of the API key with which a stage checks itself. The key is stored for the probe and never shown.
 */
const probeOwner = 'probe';

/** Throws for a stage without a probe: nothing would read its key, or remove it with the stage. */
const requireProbe = ({ stage: { name, monitoring } }: KeysOptions) => {
  if (!monitoring) throw new Error(`${name} has no probe, because nothing monitors it`);
};

/** Opens the stage whose keys a command means. */
const open = async ({ stage, endpoint }: KeysOptions) => {
  if (endpoint === undefined) return openStage(stage);
  if (stage === localStage) return openLocalKeys(endpoint);
  throw new Error('--endpoint is for local keys: leave out --stage');
};

const reportMalformed = (keyId: unknown) =>
  console.error(
    `Key ${toJson(keyId)} is left out, because its item is malformed: see "corrupt-item" in infra/runbook.md`,
  );

/** Prints a result as JSON or as its lines. */
const print = ({ json }: KeysOptions, result: object, lines: readonly string[]) =>
  console.log(json ? toJson(result) : lines.map(printable).join('\n'));

const stateOf = (record: ApiKeyRecord, time: number): 'valid' | 'ended' | 'revoked' => {
  if (isInForce(record, time)) return 'valid';
  return record.revokedAt === undefined ? 'ended' : 'revoked';
};

/**
 * Returns the parts of a key that may be shown, with its state at a time in ms. The secret and its hash are
 * not among them.
 */
const withoutSecret = (record: ApiKeyRecord, time: number) => ({
  keyId: record.keyId,
  owner: record.owner,
  lastFour: record.lastFour,
  state: stateOf(record, time),
  createdAt: record.createdAt,
  expiresAt: record.expiresAt ?? null,
  revokedAt: record.revokedAt ?? null,
  successor: record.successor ?? null,
});

/** Returns lines that say when a new key ends, and when the key that it replaces does. */
const endsOf = ({ record, previous }: IssuedApiKey & Partial<RotatedApiKey>) => [
  record.expiresAt === undefined ? 'It does not end.' : `It ends at ${record.expiresAt}.`,
  ...(previous
    ? [`The key that it replaces, ${previous.keyId}, ends at ${previous.expiresAt}.`]
    : []),
];

/** Prints a new key. A key of the probe is not printed. It replaces the previous one in SSM. */
const handOver = async (
  options: KeysOptions,
  { stage, clients }: Pick<DeployedStage, 'stage' | 'clients'>,
  issued: IssuedApiKey & Partial<RotatedApiKey>,
) => {
  const { apiKey, record, previous } = issued;
  const details = {
    ...withoutSecret(record, timeOfAws(clients.dynamodb)),
    ...(previous && { previous }),
  };
  if (record.owner !== probeOwner) {
    ifOutputIsLost(`Key ${record.keyId} was issued, and nobody has its secret: revoke it.`);
    const warning = 'It is shown this once: hand it over, and keep no copy.';
    return print(options, { apiKey, ...details }, [apiKey, ...endsOf(issued), warning]);
  }
  const Name = probeKeyParameter(stage);
  const parameter = { Name, Value: apiKey, Type: 'SecureString', Overwrite: true } as const;
  const stored = clients.ssm.send(new PutParameterCommand(parameter));
  await stored.catch((cause: unknown) => {
    throw new Error(
      `Key ${record.keyId} was issued, but not stored: rotate it. ${messageOf(cause)}`,
    );
  });
  const lines = [`The key is stored in ${Name}.`, ...endsOf(issued)];
  print(options, { parameter: Name, ...details }, lines);
};

const invalid = (message: string): never => {
  throw new InvalidArgumentError(message);
};

const isDuration = (text: string): text is StringValue => /^\d+(s|m|h|d|w|y)$/.test(text);

const milliseconds = (text: string) => {
  const value: number = isDuration(text) ? ms(text) : 0;
  const isRight = value > 0 && value <= ms('100y');
  return isRight ? value : invalid('It must be a duration such as 24h or 90d, up to 100y.');
};

const graceTime = (text: string) => (text === '0' ? 0 : milliseconds(text));

const ownerName = (text: string) => text.trim().normalize() || invalid('It must not be empty.');

const address = (text: string) =>
  /^https?:/.test(text) && URL.canParse(text)
    ? text
    : invalid('It must be a URL such as http://127.0.0.1:8000.');

/**
 * The program of `npm run keys`. `ask` asks the user a question; it is absent when there is no terminal.
 */
export const keysProgram = (ask: Ask | undefined): Command => {
  const program = new Command('npm run keys --').description(
    'Issues and revokes the API keys of a stage.',
  );

  const command = (name: string, description: string) =>
    withStage(program.command(name), 'the stage whose keys are meant')
      .description(description)
      .addOption(
        new Option('--endpoint <url>', 'DynamoDB of the local service, instead of a stage')
          .argParser(address)
          .implies({ stage: localStage }),
      )
      .option('--json', 'print JSON');

  command('issue', 'issue a key and print it, once')
    .requiredOption('--owner <name>', 'owner of the key', ownerName)
    .addOption(
      new Option('--for-probe', 'store the key where the probe of the stage reads it').implies({
        owner: probeOwner,
      }),
    )
    .option('--expires-in <duration>', 'lifetime of the key; unlimited by default', milliseconds)
    .action(async (options: KeysOptions & { owner: string; forProbe?: true }) => {
      const { owner, forProbe, expiresIn } = options;
      if (!isPrintable(owner))
        throw new Error(
          'The owner must not contain a character that is invisible, or looks like a space',
        );
      if (forProbe && owner !== probeOwner) throw new Error('Leave out --owner with --for-probe');
      if (owner === probeOwner) requireProbe(options);
      const opened = await open(options);
      const issue = () => opened.keys().issue({ owner, lifetimeMs: expiresIn });
      await handOver(options, opened, await change(issue));
    });

  command('list', 'list all keys, without their secrets').action(async (options: KeysOptions) => {
    const opened = await open(options);
    const records = await opened.keys().list(reportMalformed);
    const now = timeOfAws(opened.clients.dynamodb);
    const rows = records.map((record) => withoutSecret(record, now));
    print(options, rows, rows.length > 0 ? toTable(rows) : ['There are no keys.']);
  });

  command('rotate', 'issue a successor of a key, and expire the old key after a grace period')
    .argument('<keyId>', 'the id of a key, as `list` shows it')
    .addOption(
      new Option('--grace <duration>', 'how long the old key stays valid')
        .argParser(graceTime)
        .default(ms('7d'), '7d'),
    )
    .option('--expires-in <duration>', "new key's lifetime; by default the old one's", milliseconds)
    .option('--again', 'rotate a key whose successor was lost')
    .action(async (keyId: string, options: KeysOptions & { grace: number; again?: true }) => {
      const { grace: graceMs, expiresIn: lifetimeMs, again } = options;
      const opened = await open(options);
      const rotate = () => opened.keys().rotate(keyId, { graceMs, lifetimeMs, again });
      await handOver(options, opened, await change(rotate));
    });

  command('revoke', 'end a key now; it is refused after about 60 s')
    .argument('<keyId>', 'the id of a key, as `list` shows it')
    .option('--yes', 'do not ask first')
    .action(async (keyId: string, options: KeysOptions & { yes?: true }) => {
      const opened = await open(options);
      const keys = opened.keys();
      const { owner } = await keys.find(keyId);
      const revoke = async () => {
        const { successor } = await keys.revoke(keyId);
        const lines = [`Revoked ${keyId}`];
        // A successor whose item is gone or malformed is not valid either.
        const records = successor === undefined ? [] : await keys.list(reportMalformed);
        const now = timeOfAws(opened.clients.dynamodb);
        const isValid = records.some((each) => each.keyId === successor && isInForce(each, now));
        if (isValid) lines.push(`Its successor ${successor} is still valid.`);
        print(options, { keyId, successor: isValid ? successor : null }, lines);
      };
      const plan = {
        notices: ['Its client gets 401 after about 60 s.'],
        work: { description: `Revoke key ${keyId} of ${toJson(owner)}`, run: revoke },
      };
      // Only the result goes to the standard output, as with the other commands for keys.
      await perform(opened, plan, { yes: options.yes, ask }, console.error);
    });

  return program;
};

if (import.meta.main) await runProgram(keysProgram(askInTerminal));
