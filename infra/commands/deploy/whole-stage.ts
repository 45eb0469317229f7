import { accountStackId, accountStackName, stackName } from '../../settings/names.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { isProduction, type Stage, stages } from '../../settings/stages.ts';
import { announce, askInTerminal, confirm } from '../confirm.ts';
import { openAccount } from '../deployed-stack.ts';
import { openStage } from '../keys/stage-keys.ts';
import { lacksOf } from '../preflight/preflight.ts';
import { printable } from '../printable.ts';
import { cdk } from './cdk.ts';

interface WholeStageOptions {
  /** Does everything without asking first. */
  readonly yes?: true | undefined;
  readonly emulator?: true | undefined;
  /** The folder into which the stacks were synthesised already. */
  readonly app?: string | undefined;
  /** Deploys the stack of the stage, from a folder if there is one. Throws if there are problems. */
  readonly deployStack: (app?: string) => Promise<void>;
}

/**
 * Deploys a stage with what its account lacks, when the operator agrees. Of a stage of one's own, it then
 * prints how to call it, what it costs and how to remove it. Everything can be repeated.
 */
export const deployWholeStage = async (
  stage: Stage,
  { yes, emulator, app, deployStack }: WholeStageOptions,
): Promise<void> => {
  const { account, region } = await openAccount(stage);
  const isOwn = !stages.some(({ name }) => name === stage.name);
  const problems = [...placeholdersIn(stage), ...(isOwn ? sharedWithProduction(account) : [])];
  if (problems.length > 0) throw new AggregateError(problems);
  // The CDK's command line also looks for a region where the SDK does not.
  process.env['AWS_REGION'] = region;

  const lacks = await lacksOf(stage);
  const contexts = [`stage=${stage.name}`, ...(emulator ? ['emulator=true'] : [])];
  const context = contexts.flatMap((value) => ['--context', value]);
  const bootstrap = {
    description: 'Bootstrap the account for the CDK: cdk bootstrap',
    run: () => cdk('bootstrap', `aws://${account}/${region}`, ...context),
  };
  const folder = app === undefined ? [] : ['--app', app];
  const words = [accountStackId(stage), '--require-approval', 'never', ...context, ...folder];
  const accountStack = {
    description: `Deploy ${accountStackName}: a role with which API Gateway writes logs`,
    run: () => cdk('deploy', ...words),
  };
  // The stacks of the account and of the stage are synthesised together.
  const synthesised = lacks.logRole ? 'cdk.out' : undefined;
  const steps = [
    ...(lacks.bootstrap ? [bootstrap] : []),
    ...(lacks.logRole ? [accountStack] : []),
    { description: `Deploy ${stackName(stage)}`, run: () => deployStack(app ?? synthesised) },
  ];
  announce(
    { stage: stage.name, account, region },
    steps.map(({ description }) => description),
  );
  if (!yes) await confirm(askInTerminal, stage.name, ': add --yes');
  for (const { run } of steps) await run();
  if (isOwn) await introduce(stage, emulator);
};

/** Returns a problem if an account has a stage in production: a mistake in another one would reach clients. */
const sharedWithProduction = (account: string): string[] =>
  stages
    .filter((stage) => isProduction(stage) && stage.environment?.account === account)
    .map(({ name }) => `The credentials belong to the account ${account} of ${name}: use others.`);

/** Issues the first API key of a stage, and prints what its owner needs to know. */
const introduce = async (stage: Stage, emulator?: true) => {
  const { keys, baseAddress } = await openStage(stage);
  const given = `--stage ${stage.name}${emulator ? ' --emulator' : ''}`;
  const isFirst = (await keys.list(() => {})).length === 0;
  const apiKey = isFirst ? (await keys.issue(stage.name)).apiKey : '$API_KEY';
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  const pet = `-H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1}'`;
  const lines = [
    '',
    `Base address  ${baseAddress}`,
    isFirst
      ? `API key       ${apiKey}, which is shown this once`
      : `API key       was shown once. Another one: npm run keys -- issue --owner <NAME> ${given}`,
    '',
    'Add a pet, and list the pets:',
    `curl -X POST '${baseAddress}/pets' ${authorization} ${pet}`,
    `curl '${baseAddress}/pets?limit=5' ${authorization}`,
    '',
    'A month costs next to nothing without calls, at most $10.50 with calls in each hour, and $5 for a million requests.',
    `Remove everything: npm run destroy -- ${given}`,
  ];
  for (const line of lines) console.log(printable(line));
};
