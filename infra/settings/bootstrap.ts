import cdk from '../../cdk.json' with { type: 'json' };

interface Place {
  readonly account: string;
  readonly region: string;
}

const qualifier = cdk.context['@aws-cdk/core:bootstrapQualifier'];

/** The name of a role that the CDK's bootstrap adds to an account. */
export const bootstrapRole = (
  purpose: 'deploy' | 'file-publishing' | 'lookup',
  { account, region }: Place,
) => `cdk-${qualifier}-${purpose}-role-${account}-${region}`;
