import { type App, Stack, Token, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { Construct } from 'constructs';

/**
 * Checks every stack of an app against the rules of cdk-nag, both the general ones for AWS and those for
 * serverless services. The synthesis fails on a finding that is not acknowledged with a reason.
 */
export const addSecurityRules = (app: App): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
};

/**
 * Acknowledges findings in a construct. `reasons` has a reason for each rule, by its name,
 * such as `AwsSolutions-SNS3`.
 */
export const acknowledge = (construct: Construct, reasons: Readonly<Record<string, string>>) => {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `${rule.replace(/-.*/, '')}::${rule}`, reason });
  }
};

/** The rule against a managed policy of AWS, such as `service-role/AWSCodeDeployRoleForLambdaLimited`. */
export const managedPolicyRule = (policy: string) =>
  `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`;

/** Acknowledges that a role or policy in a construct allows calls on these ARNs, if they have a wildcard. */
export const acknowledgeWildcards = (
  construct: Construct,
  arns: readonly string[],
  reason: string,
) => {
  const { partition, account, region } = Stack.of(construct);
  const values = { 'AWS::Partition': partition, 'AWS::AccountId': account, 'AWS::Region': region };
  for (const arn of arns.filter((each) => each.includes('*'))) {
    let name = arn;
    // cdk-nag names what a stage leaves to its credentials by the pseudo parameter.
    for (const [parameter, value] of Object.entries(values))
      if (Token.isUnresolved(value)) name = name.replaceAll(value, `<${parameter}>`);
    acknowledge(construct, { [`AwsSolutions-IAM5[Resource::${name}]`]: reason });
  }
};
