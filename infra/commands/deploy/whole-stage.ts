import { accountStackId, accountStackName, stackName } from '../../settings/names.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { isPersonal, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { deployedResources, openAccount } from '../deployed-stack.ts';
import { openStage } from '../keys/stage-keys.ts';
import { preflight } from '../preflight/preflight.ts';
import { announce, askInTerminal, confirm, printable } from '../terminal.ts';
import { cdk } from './cdk.ts';

interface WholeStageOptions {
  /** Does everything without asking first. */
  readonly yes?: true;
  readonly emulator?: true;
  /** The words that tell the CDK which stage its app declares. */
  readonly context: readonly string[];
  /** Returns the folder of the synthesised stacks. */
  readonly folder: () => Promise<string>;
  /** Deploys the stack of the stage from a folder. Throws if there are problems. */
  readonly deployStack: (folder: string) => Promise<void>;
}

/**
 * Deploys a stage with what its account lacks, when the operator agrees, and prints what comes next: how to
 * call a personal stage, what it costs and how to remove it, or what a permanent one lacks. Everything can be
 * repeated.
 */
export const deployWholeStage = async (
  stage: Stage,
  { yes, emulator, context, folder, deployStack }: WholeStageOptions,
): Promise<void> => {
  const opened = await openAccount(stage);
  const { account, region } = opened;
  const shared = isPersonal(stage) ? sharedWithProduction(account) : [];
  const problems = [...placeholdersIn(stage), ...shared];
  if (problems.length > 0) throw new AggregateError(problems);
  // The CDK's command line also looks for a region where the SDK does not.
  process.env['AWS_REGION'] = region;

  const findings = await preflight(stage, opened);
  const lacks = new Set(findings.map(({ addition }) => addition));
  const bootstrap = {
    description: 'Bootstrap the account for the CDK: cdk bootstrap',
    run: () => cdk('bootstrap', `aws://${account}/${region}`, ...context),
  };
  const accountStack = {
    description: `Deploy ${accountStackName}: a role with which API Gateway writes logs`,
    run: (synthesised: string) =>
      cdk('deploy', accountStackId(stage), '--app', synthesised, '--require-approval', 'never'),
  };
  const steps = [
    ...(lacks.has('bootstrap') ? [bootstrap] : []),
    ...(lacks.has('logRole') ? [accountStack] : []),
    { description: `Deploy ${stackName(stage)}`, run: deployStack },
  ];
  announce(
    { stage: stage.name, account, region },
    steps.map(({ description }) => description),
  );
  if (!yes) await confirm(askInTerminal, stage.name, ': add --yes');
  const synthesised = await folder();
  for (const { run } of steps) await run(synthesised);
  if (isPersonal(stage)) await introduce(stage, emulator);
  else await printNextSteps(stage);
};

/**
 * Returns a problem if an account has a stage in production: a mistake in another one would reach clients.
 */
const sharedWithProduction = (account: string): string[] =>
  stages
    .filter((stage) => isProduction(stage) && stage.environment?.account === account)
    .map(({ name }) => `The credentials belong to the account ${account} of ${name}: use others.`);

/** Prints lines of which some may have text from AWS. */
const print = (lines: readonly string[]) => {
  for (const line of lines) console.log(printable(line));
};

/** Prints what a permanent stage lacks before its next deployment, such as the key of its probe. */
const printNextSteps = async (stage: Stage) => {
  const findings = await preflight(stage, await openAccount(stage));
  const problems = findings.map(({ problem }) => problem);
  if (problems.length > 0) print(['', 'Before the next deployment:', ...problems]);
};

/** Prints the status, the address, the commit and the logs of a deployed stage. */
export const printStage = async (stage: Stage): Promise<void> => {
  const { account, region, status, commit, baseAddress } = await openStage(stage);
  const logs = await deployedResources(stage, await openAccount(stage), 'AWS::Logs::LogGroup');
  print([
    `Stage ${stage.name}, account ${account}, region ${region}`,
    `Status        ${status}`,
    `Base address  ${baseAddress}`,
    `Commit        ${commit}`,
    `Logs          https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:log-groups$3FlogGroupNameFilter$3D${stackName(stage)}`,
    ...logs.map(({ PhysicalResourceId }) => `aws logs tail ${PhysicalResourceId} --follow`),
  ]);
};

/** Issues the first API key of a stage, and prints what its owner needs to know. */
const introduce = async (stage: Stage, emulator?: true) => {
  const { keys, baseAddress } = await openStage(stage);
  const given = `--stage ${stage.name}${emulator ? ' --emulator' : ''}`;
  const isFirst = (await keys.list(() => {})).length === 0;
  const apiKey = isFirst ? (await keys.issue({ owner: stage.name })).apiKey : '$API_KEY';
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  const pet = `-H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1}'`;
  console.log();
  await printStage(stage);
  print([
    isFirst
      ? `API key       ${apiKey}, which is shown this once`
      : `API key       was shown once. Another one: npm run keys -- issue --owner <NAME> ${given}`,
    '',
    'Add a pet, and list the pets:',
    `curl -X POST '${baseAddress}/pets' ${authorization} ${pet}`,
    `curl '${baseAddress}/pets?limit=5' ${authorization}`,
    '',
    'A month costs next to nothing without calls, at most $10.50 with calls in each hour, and $5 for a million requests.',
    `Print the address and the logs again: npm run deploy -- ${given} --show`,
    `Remove everything: npm run destroy -- ${given}`,
  ]);
};
