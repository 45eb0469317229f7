import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';

/**
 * Holds every stack of an app to the rules of cdk-nag, for AWS in general and for serverless services. A finding that
 * is neither mended nor acknowledged, with its reason, where it arises makes the synthesis fail.
 */
export const addSecurityChecks = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
};
