import { App } from 'aws-cdk-lib';
import { featureFlags } from './feature-flags.ts';
import { bundleFunctions } from './lambda/bundle-functions.ts';
import { refusePlaceholders } from './placeholders.ts';
import { AccountStack } from './stacks/account-stack.ts';
import { AnimalStoreStack } from './stacks/animal-store-stack.ts';
import { addSecurityChecks } from './stacks/security-checks.ts';
import { accountStackId, emulated, type Stage, stackName, stages, staging } from './stages.ts';

await bundleFunctions();

const app = new App({ analyticsReporting: false, context: featureFlags });
/**
 * `--context emulator=true` is for an AWS-compatible emulator, `--context canary=off` for a fix that can't wait, and
 * `--context placeholders=allowed` for what deploys no prod. `--context cors=<origin>` replaces `corsOrigins`.
 */
const isSet = (switchName: string, value: string) => app.node.tryGetContext(switchName) === value;
const cors: unknown = app.node.tryGetContext('cors');
const deployed: readonly Stage[] = isSet('emulator', 'true')
  ? [emulated(staging)]
  : Object.values(stages);

for (const stage of deployed) {
  if (stage.name === 'prod' && !isSet('placeholders', 'allowed')) refusePlaceholders(stage);
  const account = accountStackId(stage);
  if (!app.node.tryFindChild(account)) {
    new AccountStack(app, account, stage.environment && { env: stage.environment });
  }
  new AnimalStoreStack(app, stackName(stage), {
    stage: {
      ...stage,
      ...(isSet('canary', 'off') && { deployment: 'all at once' }),
      ...(typeof cors === 'string' && { corsOrigins: [cors] }),
    },
  });
}
addSecurityChecks(app);
app.synth();
