import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  OidcProviderNative,
  OpenIdConnectPrincipal,
  PolicyDocument,
  type PolicyStatement,
  Role,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import cdk from '../../cdk.json' with { type: 'json' };
import { allow } from '../constructs/bundled-function.ts';
import { acknowledgeWildcards } from '../constructs/security-rules.ts';
import { githubStackName, stackName } from '../settings/names.ts';
import type { GithubRepository } from '../settings/owner.ts';
import type { Stage } from '../settings/stages.ts';

/** Part of the names of what the CDK's bootstrap adds to an account. */
const qualifier = cdk.context['@aws-cdk/core:bootstrapQualifier'];

const issuer = 'token.actions.githubusercontent.com';
const audience = 'sts.amazonaws.com';

/**
 * The stack by which GitHub's workflows get roles in an account: for each of its stages, one that deploys it.
 * Only a person deploys this stack, so that a merge does not change what releases may do.
 */
export class GithubStack extends Stack {
  readonly #repository: GithubRepository;

  constructor(
    scope: Construct,
    id: string,
    stages: readonly Stage[],
    repository: GithubRepository,
  ) {
    const env = stages[0]?.env;
    super(scope, id, {
      description: 'Animal store service, roles of the workflows on GitHub',
      stackName: githubStackName,
      terminationProtection: true,
      ...(env && { env }),
    });
    this.#repository = repository;
    const { account } = this;
    const provider = repository.accountsWithProvider.includes(account)
      ? OidcProviderNative.fromOidcProviderArn(
          this,
          'Provider',
          this.formatArn({ service: 'iam', region: '', resource: `oidc-provider/${issuer}` }),
        )
      : new OidcProviderNative(this, 'Provider', {
          url: `https://${issuer}`,
          clientIds: [audience],
          // Workflows of other repositories may use it too.
          removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        });
    for (const stage of stages) {
      const name = `${stage.name}-deploy`;
      const statements = this.#deployment(stage);
      const role = new Role(this, name, {
        assumedBy: new OpenIdConnectPrincipal(provider, this.#conditionsFor(stage.name)),
        inlinePolicies: { calls: new PolicyDocument({ statements }) },
        // A deployment to prod takes longer than the hour that is usual.
        maxSessionDuration: Duration.hours(2),
      });
      new CfnOutput(this, `${name}-role`, { value: role.roleArn });
      acknowledgeWildcards(
        role,
        statements.flatMap(({ resources }) => resources),
        'An ARN of a stack ends with what AWS adds.',
      );
    }
  }

  /**
   * Accepts the jobs of an environment of the repository. A repository that was created, renamed or
   * transferred since July 2026 names itself with ids, an older one without:
   * https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/
   * https://github.com/aws-actions/configure-aws-credentials/pull/1889
   */
  #conditionsFor(environment: string) {
    const { owner, name, ownerId, repositoryId, subjectsLackIds } = this.#repository;
    const repository = subjectsLackIds
      ? `${owner}/${name}`
      : `${owner}@${ownerId}/${name}@${repositoryId}`;
    return {
      StringEquals: {
        [`${issuer}:aud`]: audience,
        [`${issuer}:sub`]: `repo:${repository}:environment:${environment}`,
      },
    };
  }

  /** Returns all permissions that the job that deploys a stage needs. CDK's roles have those to deploy. */
  #deployment(stage: Stage): PolicyStatement[] {
    const region = stage.env?.region ?? this.region;
    const cdkRoles = (['deploy', 'file-publishing', 'lookup'] as const).map((role) =>
      this.formatArn({
        service: 'iam',
        region: '',
        resource: `role/cdk-${qualifier}-${role}-role-${this.account}-${region}`,
      }),
    );
    const stack = `stack/${stackName(stage)}/*`;
    const stackArn = this.formatArn({ service: 'cloudformation', region, resource: stack });
    const stackCalls = [
      'DescribeStacks',
      'GetTemplate',
      'ListStackResources',
      // A way back or a hotfix runs the command of an earlier commit, which makes these calls.
      'DescribeChangeSet',
      'DeleteChangeSet',
    ];
    return [
      allow('sts:AssumeRole', ...cdkRoles),
      ...stackCalls.map((call) => allow(`cloudformation:${call}`, stackArn)),
    ];
  }
}
