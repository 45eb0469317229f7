import { App, cx_api } from 'aws-cdk-lib';
import * as v from 'valibot';
import cdk from '../cdk.json' with { type: 'json' };
import { bundleFunctions } from './build/bundle-functions.ts';
import { addSecurityRules } from './constructs/security-rules.ts';
import { stackName } from './settings/names.ts';
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
  /** An origin that replaces `corsOrigins`. */
  cors: v.optional(v.string()),
  /** `none` is for the local service, which bundles the functions itself. */
  bundles: v.optional(v.picklist(['all', 'none']), 'all'),
  /** `off` is for stacks that are not deployed, such as those of tests, one of which applies the checks. */
  'security-rules': v.optional(v.picklist(['on', 'off']), 'on'),
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

if (context.bundles === 'all') await bundleFunctions();

for (const stage of declaredStages()) {
  new AnimalStoreStack(app, stackName(stage), {
    ...stage,
    ...(context.cors !== undefined && { corsOrigins: [context.cors] }),
  });
}
if (context['security-rules'] === 'on') addSecurityRules(app);
app.synth();
