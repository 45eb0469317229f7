import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge, managedPolicyRule } from './security-rules.ts';

/** Creates a role for an AWS service, with the managed policy that AWS maintains for this purpose. */
export const serviceRole = (scope: Construct, id: string, service: string, policy: string) => {
  const role = new Role(scope, id, {
    assumedBy: new ServicePrincipal(`${service}.amazonaws.com`),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
  });
  acknowledge(role, { [managedPolicyRule(policy)]: 'AWS made the policy for this one use.' });
  return role;
};
