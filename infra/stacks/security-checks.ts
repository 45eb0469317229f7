import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';

/**
 * Checks every stack of an app against the rules of cdk-nag, for AWS in general and for serverless services. A finding
 * that is not acknowledged with a reason makes the synthesis fail.
 */
export const addSecurityChecks = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
};
