import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import ms, { type StringValue } from 'ms';
import type { IssuedApiKey } from '../../lib/keys/key-administration.ts';
import { messageOf } from '../message-of.ts';
import { emulated, probeKeyParameter, regionOf, type Stage, stages } from '../stages.ts';
import { openLocalKeys, openStage } from './stage-keys.ts';
import { readUsage } from './usage.ts';

/** Where the commands write to, and whom they ask: nobody, without a terminal. */
export interface Terminal {
  readonly console: Console;
  readonly confirm: ((question: string) => Promise<boolean>) | undefined;
}

interface CommonOptions {
  readonly stage: Stage['name'];
  readonly endpoint?: string;
  readonly emulator?: true;
  readonly json?: true;
}

type IssueOptions = CommonOptions & { owner: string; forProbe?: true; expiresIn?: number };

/** The owner of the key with which a stage checks itself. Its keys are stored for the probe, and never shown. */
const probeOwner = 'probe';

const stageOf = ({ stage, endpoint, emulator }: CommonOptions): Stage => {
  if (endpoint !== undefined) throw new Error('This needs a deployed stage: leave out --endpoint');
  return emulator ? emulated(stages[stage]) : stages[stage];
};

const deployed = async (options: CommonOptions) => openStage(stageOf(options));

const keysOf = async (options: CommonOptions) => {
  const { stage, endpoint } = options;
  if (endpoint === undefined) return (await deployed(options)).keys;
  if (stage !== 'prod') return openLocalKeys(endpoint);
  throw new Error('--endpoint is for local keys: they are of --stage staging');
};

/** What may be shown of a key: never its secret, nor the hash of it. */
const shown = ({
  keyId,
  owner,
  lastFour,
  createdAt,
  expiresAt,
  revokedAt,
}: IssuedApiKey['record']) => ({
  keyId,
  owner,
  lastFour,
  createdAt,
  expiresAt: expiresAt ?? null,
  revokedAt: revokedAt ?? null,
});

/** Stores a key of the probe, in place of the one before, and gives the name of the parameter. */
const storeProbeKey = async (options: CommonOptions, { apiKey, record }: IssuedApiKey) => {
  const stage = stageOf(options);
  const Name = probeKeyParameter(stage);
  const parameter = { Name, Value: apiKey, Type: 'SecureString', Overwrite: true } as const;
  const stored = new SSMClient(regionOf(stage)).send(new PutParameterCommand(parameter));
  await stored.catch((cause: unknown) => {
    throw new Error(`Key ${record.keyId} was issued, but not stored: rotate it. ${cause}`);
  });
  return Name;
};

/** Each key and operation that was used, and each key that was not. */
const usageIn = async (options: CommonOptions & { days?: number }) => {
  const { name, logRetentionDays, logLevel } = stages[options.stage];
  const days = options.days ?? Math.min(30, logRetentionDays);
  if (days > logRetentionDays) {
    throw new Error(`The logs of ${name} are kept for ${logRetentionDays} days`);
  }
  if (logLevel === 'WARN' || logLevel === 'ERROR') {
    throw new Error(`The logs of ${name}, of level ${logLevel}, name no key of a success`);
  }
  const { keys, logGroupNames, config } = await deployed(options);
  const [records, usage] = await Promise.all([
    keys.list(),
    readUsage(new CloudWatchLogsClient(config), logGroupNames, days),
  ]);
  const owners = new Map(records.map(({ keyId, owner }) => [keyId, owner]));
  const usageOf = Map.groupBy(usage, ({ keyId }) => keyId);
  const nothing = [{ operation: null, requests: 0, errors: 0, lastUse: null }];
  return [...new Set([...usageOf.keys(), ...owners.keys()])].flatMap((keyId) =>
    (usageOf.get(keyId) ?? nothing).map((row) => ({ keyId, owner: owners.get(keyId), ...row })),
  );
};

const isDuration = (text: string): text is StringValue => /^\d+(s|m|h|d|w|y)$/.test(text);

const milliseconds = (duration: string): number => {
  const value: number = isDuration(duration) ? ms(duration) : 0;
  if (value > 0 && value <= ms('100y')) return value;
  throw new InvalidArgumentError('It must be a duration such as 24h or 90d, up to 100y.');
};

const graceTime = (duration: string): number => (duration === '0' ? 0 : milliseconds(duration));

const ownerName = (text: string): string => {
  if (text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('It must not be empty.');
};

const numberOfDays = (text: string): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of days.');
};

const address = (text: string): string => {
  if (/^https?:/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8000.');
};

const keyId = () => new Argument('<keyId>', 'the id of a key, as `list` shows it');

const programOf = ({ console, confirm }: Terminal): Command => {
  const program = new Command('npm run keys --')
    .description('Issues and revokes the API keys of a stage.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      writeErr: (text) => console.error(text.trimEnd()),
    });

  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .addOption(
        new Option('--stage <stage>', 'the stage whose keys are meant')
          .choices(Object.keys(stages))
          .makeOptionMandatory(),
      )
      .option('--endpoint <url>', 'DynamoDB of the local service, instead of AWS', address)
      .option('--emulator', 'an AWS-compatible emulator, with an account of its own')
      .option('--json', 'print JSON');

  /** One JSON line on standard error for each act, so that standard output is only the result. */
  const logAct = (act: string, { stage }: CommonOptions, details: object) => {
    console.error(JSON.stringify({ timestamp: new Date().toISOString(), act, stage, ...details }));
  };

  const print = (rows: readonly object[], { json }: CommonOptions) => {
    if (json) console.log(JSON.stringify(rows));
    else console.table(rows);
  };

  const handOver = async (issued: IssuedApiKey, options: CommonOptions) => {
    const { apiKey, record } = issued;
    const isProbe = record.owner === probeOwner;
    const result = isProbe ? { parameter: await storeProbeKey(options, issued) } : { apiKey };
    if (options.json) console.log(JSON.stringify({ ...result, ...shown(record) }));
    else if (isProbe) console.log(`Stored in ${result.parameter}`);
    else console.log(`${apiKey}\nIt is shown this once: hand it over, and keep no copy.`);
  };

  command('issue', 'issue a key and print it, once')
    .requiredOption('--owner <name>', 'owner of the key', ownerName)
    .addOption(
      new Option('--for-probe', 'store the key where the probe of the stage reads it').implies({
        owner: probeOwner,
      }),
    )
    .option('--expires-in <duration>', 'its lifetime; unlimited without it', milliseconds)
    .action(async (options: IssueOptions) => {
      const { stage, owner, forProbe, expiresIn } = options;
      if (forProbe && owner !== probeOwner) throw new Error('Leave out --owner with --for-probe');
      const keys = owner === probeOwner ? (await deployed(options)).keys : await keysOf(options);
      const issued = await keys.issue(stages[stage].apiKeyPrefix, owner, expiresIn);
      logAct('issue', options, { keyId: issued.record.keyId, owner });
      await handOver(issued, options);
    });

  command('list', 'list all keys, without their secrets').action(async (options: CommonOptions) => {
    print((await (await keysOf(options)).list()).map(shown), options);
  });

  command('usage', 'count the requests of each key, and show its last use')
    .option(
      '--days <days>',
      'how far back (default: 30, or as long as logs are kept)',
      numberOfDays,
    )
    .action(async (options: CommonOptions & { days?: number }) => {
      print(await usageIn(options), options);
    });

  command('rotate', 'issue a successor of a key, and expire the old key after a grace period')
    .addArgument(keyId())
    .option('--grace <duration>', 'how long the old key stays valid', graceTime, ms('7d'))
    .option('--expires-in <duration>', "its lifetime; the old key's without it", milliseconds)
    .action(async (id: string, options: CommonOptions & { grace: number; expiresIn?: number }) => {
      const { stage, grace, expiresIn } = options;
      const keys = await keysOf(options);
      const issued = await keys.rotate(stages[stage].apiKeyPrefix, id, grace, expiresIn);
      const { keyId: successor, owner } = issued.record;
      logAct('rotate', options, { keyId: id, successor, owner, graceMs: grace });
      await handOver(issued, options);
    });

  command('revoke', 'end a key now; it is refused after about 60 s')
    .addArgument(keyId())
    .option('--yes', 'do not ask first')
    .action(async (id: string, options: CommonOptions & { yes?: true }) => {
      const keys = await keysOf(options);
      const { owner } = await keys.find(id);
      if (!options.yes && !confirm) throw new Error('There is no terminal to ask: add --yes');
      if (!options.yes && !(await confirm?.(`Revoke key ${id} of ${owner}, ${options.stage}?`))) {
        throw new Error('Not revoked');
      }
      await keys.revoke(id);
      logAct('revoke', options, { keyId: id });
      console.log(options.json ? JSON.stringify({ keyId: id }) : `Revoked ${id}`);
    });

  return program;
};

/** Runs a command of `npm run keys`, and gives its exit code. */
export const runKeys = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await programOf(terminal).parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own.
    if (error instanceof CommanderError) return error.exitCode;
    terminal.console.error(`error: ${messageOf(error)}`);
    return 1;
  }
};
