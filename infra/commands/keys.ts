import { createInterface } from 'node:readline/promises';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Argument, InvalidArgumentError, Option, program } from 'commander';
import ms, { type StringValue } from 'ms';
import {
  type ApiKeyRecord,
  type IssuedApiKey,
  KeyAdministration,
} from '../../lib/keys/key-administration.ts';
import { localClientConfig } from '../local/local-account.ts';
import { emulated, type Stage, stackName, stages } from '../stages.ts';

interface CommonOptions {
  readonly stage: Stage['name'];
  readonly endpoint?: string;
  readonly emulator?: true;
  readonly json?: true;
}

/** The keys of a stage: its table is an output of its stack, or the one that the local service has made. */
const keysOf = async ({ stage, endpoint, emulator }: CommonOptions): Promise<KeyAdministration> => {
  if (endpoint !== undefined) {
    const client = new DynamoDBClient(localClientConfig(endpoint));
    return keysIn(client, await localTable(client));
  }
  const { environment } = emulator ? emulated(stages[stage]) : stages[stage];
  const config = environment ? { region: environment.region } : {};
  if (environment) await requireAccount(environment.account, config);
  const tableName = await deployedTable(stackName(stages[stage]), config);
  return keysIn(new DynamoDBClient(config), tableName);
};

const keysIn = (client: DynamoDBClient, tableName: string) =>
  new KeyAdministration(DynamoDBDocumentClient.from(client), tableName);

/** Throws when the credentials belong to another account, which could have a stack of the same name. */
const requireAccount = async (account: string, config: { readonly region?: string }) => {
  const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
  if (Account === account) return;
  throw new Error(`The credentials belong to the account ${Account}, and the stage to ${account}`);
};

const deployedTable = async (
  StackName: string,
  config: { readonly region?: string },
): Promise<string> => {
  const { Stacks } = await new CloudFormationClient(config).send(
    new DescribeStacksCommand({ StackName }),
  );
  const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'KeysTableName');
  if (output?.OutputValue === undefined)
    throw new Error(`${StackName} has no output KeysTableName`);
  return output.OutputValue;
};

const localTable = async (client: DynamoDBClient): Promise<string> => {
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    const tableName = TableNames.find((name) => name.startsWith('KeysTable'));
    if (tableName !== undefined) return tableName;
  }
  throw new Error('There is no keys table at this endpoint');
};

/** What may be shown of a key: never its secret, nor the hash of it. */
const shown = ({ keyId, owner, lastFour, createdAt, expiresAt, revokedAt }: ApiKeyRecord) => ({
  keyId,
  owner,
  lastFour,
  createdAt,
  expiresAt: expiresAt ?? null,
  revokedAt: revokedAt ?? null,
});

/** One JSON line on standard error for each act, so that standard output is only the result. */
const logAct = (act: string, { stage }: CommonOptions, details: object) => {
  console.error(JSON.stringify({ timestamp: new Date().toISOString(), act, stage, ...details }));
};

const printIssued = ({ apiKey, record }: IssuedApiKey, { json }: CommonOptions) => {
  if (json) console.log(JSON.stringify({ apiKey, ...shown(record) }));
  else console.log(`${apiKey}\nIt is shown this once: hand it over, and keep no copy.`);
};

const milliseconds = (duration: string): number => {
  if (duration === '0') return 0;
  const value: number | undefined = isDuration(duration) ? ms(duration) : undefined;
  if (value !== undefined && value > 0) return value;
  throw new InvalidArgumentError('It must be a duration such as 24h or 90d.');
};

const isDuration = (text: string): text is StringValue => /^\d+(s|m|h|d|w|y)$/.test(text);

const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `));
  } finally {
    terminal.close();
  }
};

const command = (name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .addOption(
      new Option('--stage <stage>', 'the stage whose keys are meant')
        .choices(Object.keys(stages))
        .makeOptionMandatory(),
    )
    .option('--endpoint <url>', 'DynamoDB of the local service, instead of AWS')
    .option('--emulator', 'an AWS-compatible emulator, with an account of its own')
    .option('--json', 'print JSON');

const keyId = () => new Argument('<keyId>', 'the id of a key, as `list` shows it');

program.name('npm run keys --').description('Issues and revokes the API keys of a stage.');

command('issue', 'issue a key and print it, once')
  .requiredOption('--owner <name>', 'whom the key is for')
  .option(
    '--expires-in <duration>',
    'its lifetime, such as 90d; unlimited without it',
    milliseconds,
  )
  .action(async (options: CommonOptions & { owner: string; expiresIn?: number }) => {
    const { stage, owner, expiresIn } = options;
    const expiresAt = expiresIn === undefined ? undefined : new Date(Date.now() + expiresIn);
    const keys = await keysOf(options);
    const issued = await keys.issue(stages[stage].apiKeyPrefix, owner, expiresAt);
    logAct('issue', options, { keyId: issued.record.keyId, owner });
    printIssued(issued, options);
  });

command('list', 'list all keys, without their secrets').action(async (options: CommonOptions) => {
  const records = (await (await keysOf(options)).list()).map(shown);
  if (options.json) console.log(JSON.stringify(records));
  else console.table(records);
});

command('rotate', 'issue a successor of a key, and let the key itself end after a time of grace')
  .addArgument(keyId())
  .option('--grace <duration>', 'how long the old key stays valid', milliseconds, ms('7d'))
  .option(
    '--expires-in <duration>',
    "the successor's lifetime; the old key's without it",
    milliseconds,
  )
  .action(async (id: string, options: CommonOptions & { grace: number; expiresIn?: number }) => {
    const { stage, grace, expiresIn } = options;
    const keys = await keysOf(options);
    const issued = await keys.rotate(stages[stage].apiKeyPrefix, id, grace, expiresIn);
    const { keyId: successor, owner } = issued.record;
    logAct('rotate', options, { keyId: id, successor, owner, graceMs: grace });
    printIssued(issued, options);
  });

command('revoke', 'end a key now; it is refused after about 60 s')
  .addArgument(keyId())
  .option('--yes', 'do not ask first')
  .action(async (id: string, options: CommonOptions & { yes?: true }) => {
    if (!options.yes && !(await confirm(`Revoke key ${id} of ${options.stage}?`))) {
      throw new Error('Not revoked');
    }
    await (await keysOf(options)).revoke(id);
    logAct('revoke', options, { keyId: id });
    console.log(options.json ? JSON.stringify({ keyId: id }) : `Revoked ${id}`);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
