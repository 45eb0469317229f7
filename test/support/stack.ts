import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { featureFlags } from '../../infra/feature-flags.ts';
import { AnimalStoreStack } from '../../infra/stacks/animal-store-stack.ts';
import type { Stage } from '../../infra/stages.ts';

/** The stack of a stage, in an app of its own. */
export const stackOf = (stage: Stage): AnimalStoreStack =>
  new AnimalStoreStack(new App({ context: featureFlags }), 'Stack', { stage });

/** The CloudFormation template of a stage. */
export const templateOf = (stage: Stage): Template => Template.fromStack(stackOf(stage));
