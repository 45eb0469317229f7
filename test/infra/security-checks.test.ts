import { Stack } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { expect, it } from 'vitest';
import { addSecurityChecks } from '../../infra/constructs/security-checks.ts';
import { newApp } from '../support/templates.ts';

// The project itself passes them: see cdk-rules.test.ts.
it('the synthesis fails on a topic without TLS, and names the rule', () => {
  const app = newApp();
  new Topic(new Stack(app, 'Stack'), 'Topic');
  addSecurityChecks(app);
  expect(() => app.synth()).toThrow('AwsSolutions-SNS3');
});
