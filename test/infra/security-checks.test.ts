import { App, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { expect, it } from 'vitest';
import { addSecurityChecks } from '../../infra/stacks/security-checks.ts';

// The project itself passes them: `global-setup.ts` synthesises it, and every test run fails otherwise.
it.each([
  ['a topic without TLS', 'AwsSolutions-SNS3', (stack: Stack) => new Topic(stack, 'Topic')],
  [
    'a role that may do everything with DynamoDB',
    'AwsSolutions-IAM5[Action::dynamodb:*]',
    (stack: Stack) =>
      new Role(stack, 'Role', {
        assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      }).addToPolicy(new PolicyStatement({ actions: ['dynamodb:*'], resources: ['*'] })),
  ],
])('the synthesis fails on %s and names the rule %s', (_what, rule, addTo) => {
  const app = new App();
  addTo(new Stack(app, 'Stack'));
  addSecurityChecks(app);
  expect(() => app.synth()).toThrow(rule);
});
