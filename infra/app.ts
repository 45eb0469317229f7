import { App } from 'aws-cdk-lib';
import { AnimalStoreStack } from './animal-store-stack.ts';
import { bundleFunctions } from './bundle-functions.ts';
import { stages } from './stages.ts';

await bundleFunctions();

const app = new App({ analyticsReporting: false });
for (const stage of stages) {
  new AnimalStoreStack(app, `AnimalStore-${stage.name}`, { stage });
}
app.synth();
