import { App, cx_api } from 'aws-cdk-lib';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as v from 'valibot';
import cdk from '../cdk.json' with { type: 'json' };
import { bundleFunctions } from './build/bundle-functions.ts';
import { addCodeCaches } from './build/code-cache/code-caches.ts';
import { addSecurityChecks } from './constructs/security-checks.ts';
import { stackName } from './settings/names.ts';
import { placeholdersIn, warningsOf } from './settings/stage-problems.ts';
import { emulated, type Stage, stageNamed, stages, staging } from './settings/stages.ts';
import { AnimalStoreStack } from './stacks/animal-store-stack.ts';

// The CDK's command line passes the feature flags of cdk.json by itself. The other programs that run this
// file don't, so they are set here.
const app = new App({ analyticsReporting: false, context: cdk.context });

/** What `--context <name>=<value>` can set. */
const Context = v.object({
  /** The only stage to declare, permanent or personal. By default, all permanent ones are declared. */
  stage: v.optional(v.pipe(v.string(), v.transform(stageNamed))),
  /** `true` declares the stage, by default staging, as it is on an AWS-compatible emulator. */
  emulator: v.optional(v.picklist(['true', 'false']), 'false'),
  /** `allowed` synthesises stages that can't be deployed yet, too. */
  placeholders: v.optional(v.picklist(['allowed', 'refused']), 'refused'),
  /** An origin that replaces `corsOrigins`. */
  cors: v.optional(v.string()),
  /** `off` is for functions that don't run on Lambda. Those on an emulator don't. */
  'code-cache': v.optional(v.picklist(['on', 'off']), 'on'),
  /** `none` is for the local service, which bundles the functions itself. */
  bundles: v.optional(v.picklist(['all', 'none']), 'all'),
  /** `off` is for stacks that are not deployed, such as those of tests, one of which applies the checks. */
  'security-checks': v.optional(v.picklist(['on', 'off']), 'on'),
  /** The stacks whose assets the CDK's command line needs: none for commands such as `cdk bootstrap`. */
  [cx_api.BUNDLING_STACKS]: v.optional(v.array(v.string()), ['**']),
});

/** Ends with a line about what the operator must change. The CDK shows what an app throws as a defect. */
const stop = (problem: string): never => {
  console.error(`error: ${problem}`);
  process.exit(1);
};

const parseContext = () => {
  const given = Object.keys(Context.entries).map((name) => [name, app.node.tryGetContext(name)]);
  try {
    return v.parse(Context, Object.fromEntries(given));
  } catch (error) {
    const where = v.isValiError(error) ? `--context ${v.getDotPath(error.issues[0])}: ` : '';
    return stop(`${where}${error instanceof Error ? error.message : error}`);
  }
};
const context = parseContext();

const declaredStages = (): readonly Stage[] => {
  const { stage, emulator } = context;
  if (emulator === 'true') return [emulated(stage ?? staging)];
  return stage ? [stage] : stages;
};

const regions = RegionInfo.regions.map(({ name }) => name);
const printWarnings = (stage: Stage) => {
  for (const warning of [...placeholdersIn(stage), ...warningsOf(stage, regions)])
    console.error(`warning: ${warning}`);
};

/** The stages without placeholders, so that you can deploy staging before you set the values of prod. */
const deployed = declaredStages().filter((stage) => {
  if (context.placeholders === 'allowed') {
    printWarnings(stage);
    return true;
  }
  const placeholders = placeholdersIn(stage);
  if (placeholders.length === 0) return true;
  const reasons = placeholders.join(' ');
  console.error(`${stage.name} is left out, because it has placeholders. ${reasons}`);
  return false;
});
if (deployed.length === 0)
  stop('Every stage has placeholders. To synthesise without deploying: npm run synth.');

if (context.bundles === 'all') await bundleFunctions();
const runsOnLambda = context['code-cache'] === 'on' && context.emulator === 'false';
if (runsOnLambda && context[cx_api.BUNDLING_STACKS].length > 0) await addCodeCaches();

for (const stage of deployed) {
  new AnimalStoreStack(app, stackName(stage), {
    ...stage,
    ...(context.cors !== undefined && { corsOrigins: [context.cors] }),
  });
}
if (context['security-checks'] === 'on') addSecurityChecks(app);
app.synth();
