import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { Construct } from 'constructs';

/**
 * Checks every stack of an app against the rules of cdk-nag, for AWS in general and for serverless services.
 * A finding that is not acknowledged with a reason makes the synthesis fail.
 */
export const addSecurityChecks = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
};

/** Accepts findings in a construct, each with its reason, by the rule's name such as `AwsSolutions-SNS3`. */
export const acknowledge = (construct: Construct, reasons: Readonly<Record<string, string>>) => {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `${rule.replace(/-.*/, '')}::${rule}`, reason });
  }
};
