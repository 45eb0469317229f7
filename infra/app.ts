import { App } from 'aws-cdk-lib';
import { AccountStack } from './account-stack.ts';
import { AnimalStoreStack } from './animal-store-stack.ts';
import { bundleFunctions } from './bundle-functions.ts';
import { addSecurityChecks } from './security-checks.ts';
import { emulated, stages, staging } from './stages.ts';

await bundleFunctions();

const app = new App({ analyticsReporting: false });
new AccountStack(app, 'AnimalStore-account');
const isEmulator = app.node.tryGetContext('emulator') === 'true';
for (const stage of isEmulator ? [emulated(staging)] : Object.values(stages)) {
  new AnimalStoreStack(app, `AnimalStore-${stage.name}`, { stage });
}
addSecurityChecks(app);
app.synth();
