import { App, cx_api } from 'aws-cdk-lib';
import cdk from '../cdk.json' with { type: 'json' };
import { bundleFunctions } from './build/bundle-functions.ts';
import { addCodeCaches } from './build/code-cache/code-caches.ts';
import { fail } from './commands/terminal.ts';
import { addSecurityChecks } from './constructs/security-checks.ts';
import { accountStackId, stackName } from './settings/names.ts';
import { placeholdersIn } from './settings/stage-problems.ts';
import { emulated, type Stage, stageNamed, stages, staging } from './settings/stages.ts';
import { AccountStack } from './stacks/account-stack.ts';
import { AnimalStoreStack } from './stacks/animal-store-stack.ts';

// The CDK's command line passes the feature flags of cdk.json by itself. The other programs that run this
// file don't, so they are set here.
const app = new App({ analyticsReporting: false, context: cdk.context });
// `--context emulator=true` is for an AWS-compatible emulator. `--context placeholders=allowed` allows a
// synthesis without a deployment. `--context cors=<origin>` replaces `corsOrigins`.
// `--context stage=<name>` declares one stage, permanent or personal, instead of all
// permanent ones.
// `--context code-cache=off` is for functions that don't run on Lambda, as on an emulator.
// `--context bundles=none` is for the local service, which bundles the functions itself.
const isSet = (switchName: string, value: string) => app.node.tryGetContext(switchName) === value;
const cors: unknown = app.node.tryGetContext('cors');
const stageName: unknown = app.node.tryGetContext('stage');
const arePlaceholdersAllowed = isSet('placeholders', 'allowed');

/**
 * Ends with a line about what the operator must change. The CDK shows what else an app throws as a defect.
 */
const stop = (problem: unknown): never => {
  fail(problem);
  process.exit();
};

const namedStage = () => {
  try {
    return stageName === undefined ? undefined : stageNamed(`${stageName}`);
  } catch (problem) {
    return stop(problem);
  }
};

const declaredStages = (): readonly Stage[] => {
  const named = namedStage();
  if (isSet('emulator', 'true')) return [emulated(named ?? staging)];
  return named ? [named] : stages;
};

/** The stages without placeholders, so that you can deploy staging before you set the values of prod. */
const deployed = declaredStages().filter((stage) => {
  const placeholders = arePlaceholdersAllowed ? [] : placeholdersIn(stage);
  if (placeholders.length === 0) return true;
  const reasons = placeholders.join(' ');
  console.error(`${stage.name} is left out, because it has placeholders. ${reasons}`);
  return false;
});
if (deployed.length === 0)
  stop('Every stage has placeholders. To synthesise without deploying: npm run synth.');

/** The stacks whose assets the CDK's command line needs: none for commands such as `cdk bootstrap`. */
const bundledStacks: unknown = app.node.tryGetContext(cx_api.BUNDLING_STACKS);
const needsAssets = !(Array.isArray(bundledStacks) && bundledStacks.length === 0);

if (!isSet('bundles', 'none')) await bundleFunctions();
const runsOnLambda = !isSet('code-cache', 'off') && !isSet('emulator', 'true');
if (needsAssets && runsOnLambda) await addCodeCaches();

for (const stage of deployed) {
  const account = accountStackId(stage);
  if (!app.node.tryFindChild(account)) {
    new AccountStack(app, account, stage.environment && { env: stage.environment });
  }
  new AnimalStoreStack(app, stackName(stage), {
    ...stage,
    ...(typeof cors === 'string' && { corsOrigins: [cors] }),
  });
}
addSecurityChecks(app);
app.synth();
