import { Annotations, CfnOutput, CfnParameter, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import {
  ApiFunction,
  type ApiFunctions,
  allow,
  probeKeyArn,
} from '../constructs/bundled-function.ts';
import { CanaryDeployment } from '../constructs/canary-deployment.ts';
import { Monitoring } from '../constructs/monitoring.ts';
import { Probe } from '../constructs/probe.ts';
import { SavedQueries } from '../constructs/saved-queries.ts';
import { acknowledge, acknowledgeWildcards } from '../constructs/security-rules.ts';
import { ServiceApi } from '../constructs/service-api.ts';
import type { MonitoredTable } from '../constructs/service-metrics.ts';
import { StageDashboard } from '../constructs/stage-dashboard.ts';
import {
  bundleName,
  commitParameter,
  previousCommitParameter,
  stageTags,
} from '../settings/names.ts';
import { clientPackage } from '../settings/owner.ts';
import { validateStage } from '../settings/stage-problems.ts';
import { isProduction, type Stage } from '../settings/stages.ts';
import { type KeyAttribute, type TableSettings, tables } from '../settings/tables.ts';

/** The stack of one stage of the animal store. Throws when the settings of the stage are unsafe. */
export class AnimalStoreStack extends Stack {
  readonly #stage: Stage;
  readonly #tables: (MonitoredTable & { readonly settings: TableSettings })[] = [];
  /** The ARN of each resource that a call of an operation may name. */
  readonly #arns = new Map<string, string>();

  constructor(scope: Construct, id: string, stage: Stage) {
    validateStage(stage);
    super(scope, id, {
      description: `Animal store service, ${stage.name}`,
      ...(stage.env && { env: stage.env }),
      tags: stageTags(stage),
      terminationProtection: stage.terminationProtection,
    });
    this.#stage = stage;

    if (isProduction(stage) && clientPackage.startsWith('@example.com/'))
      Annotations.of(this).addWarningV2(
        'client-scope',
        'Releases do not publish the typed client: set clientPackage in infra/settings/owner.ts to an npm scope of yours.',
      );
    for (const settings of Object.values(tables)) this.#addTable(settings);
    const functions = this.#addFunctions();
    const api = new ServiceApi(this, 'Api', stage, functions);
    const logGroups = Array.from(functions.values(), ({ lambda }) => lambda.logGroup);
    if (stage.monitoring) {
      const service = { stage, restApi: api.restApi, functions, tables: this.#tables };
      const monitoring = new Monitoring(this, 'Monitoring', service);
      const probe = new Probe(this, stage, api.baseAddress, monitoring);
      const deployment = stage.checkBeforeTraffic
        ? new CanaryDeployment(this, service, monitoring)
        : undefined;
      // The dashboard comes last, so that it shows every alarm.
      new StageDashboard(this, 'Dashboard', service, monitoring.alarms);
      new SavedQueries(this, 'Queries', stage, {
        requests: logGroups,
        gateway: api.accessLog ? [api.accessLog] : [],
        firewall: api.firewall ? [api.firewall.log] : [],
        probe: [probe.lambda.logGroup],
        checks: deployment ? [deployment.check.lambda.logGroup] : [],
      });
    }

    const policy = this.#addKeyAdministrationPolicy();
    const { domainName } = api.restApi;
    // Parameters, so that the templates of two commits with the same resources are the same.
    const commit = new CfnParameter(this, commitParameter, {
      description: 'The commit that is deployed',
      default: 'unknown',
    });
    const previousCommit = new CfnParameter(this, previousCommitParameter, {
      description: 'The commit that was deployed before that one',
      default: 'unknown',
    });
    const outputs = {
      BaseAddress: api.baseAddress,
      ...(domainName && { DomainTarget: domainName.domainNameAliasDomainName }),
      ...this.#tableNames(({ id }) => `${id}Name`),
      KeyAdministrationPolicy: policy.managedPolicyArn,
      // CloudFormation refuses an update that changes neither a resource nor an output:
      // https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2027
      DeployedCommit: commit.valueAsString,
      PreviouslyDeployedCommit: previousCommit.valueAsString,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  #addTable(settings: TableSettings): void {
    const { id, indexes } = settings;
    const { retainData, deletionProtection, pointInTimeRecoveryDays } = this.#stage;
    const table = new Table(this, id, {
      partitionKey: attribute(settings.partitionKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      // RETAIN also keeps the table when its creation is rolled back. CloudFormation can't
      // delete a protected table.
      removalPolicy: retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection,
      ...(pointInTimeRecoveryDays > 0 && {
        pointInTimeRecoverySpecification: {
          pointInTimeRecoveryEnabled: true,
          recoveryPeriodInDays: pointInTimeRecoveryDays,
        },
      }),
    });
    if (pointInTimeRecoveryDays === 0)
      acknowledge(table, { 'AwsSolutions-DDB3': 'Nothing of this stage outlives its stack.' });
    this.#tables.push({ settings, table, indexNames: indexes.map(({ name }) => name) });
    this.#arns.set(id, table.tableArn);
    for (const index of indexes) {
      table.addGlobalSecondaryIndex({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        // A projection can't be changed in place, so a new field would need another index.
        projectionType: ProjectionType.ALL,
      });
      this.#arns.set(`${id}/index/${index.name}`, `${table.tableArn}/index/${index.name}`);
    }
  }

  /** Returns the name of each table, under what `keyOf` returns for its settings. */
  #tableNames(keyOf: (settings: TableSettings) => string): Record<string, string> {
    return Object.fromEntries(
      this.#tables.map(({ settings, table }) => [keyOf(settings), table.tableName]),
    );
  }

  /** Allows calls of an action on a resource of the stack. Throws for one that the stack lacks. */
  #allow(action: string, resource: string): PolicyStatement {
    const arn = this.#arns.get(resource);
    if (!arn) {
      const known = [...this.#arns.keys()].join(', ');
      throw new Error(`${action} names the resource ${resource}. The stack has ${known}.`);
    }
    return allow(action, arn);
  }

  /**
   * Adds a policy with all permissions that `npm run keys` and `npm run status` need. Their check of the
   * account needs none.
   */
  #addKeyAdministrationPolicy(): ManagedPolicy {
    const resource = tables.keys.id;
    // AWS compares the ARN of a stack that a call names by its name with this one, and not with the stack's
    // id:
    // https://github.com/aws/aws-parallelcluster/pull/754
    const stack = this.formatArn({
      service: 'cloudformation',
      resource: 'stack',
      resourceName: `${this.stackName}/*`,
    });
    const policy = new ManagedPolicy(this, 'KeyAdministration', {
      description: `Issue, list, rotate and revoke the API keys of ${this.#stage.name}`,
      statements: [
        allow('cloudformation:DescribeStacks', stack),
        allow('cloudformation:ListStackResources', stack),
        ...['GetItem', 'PutItem', 'UpdateItem', 'Scan'].map((call) =>
          this.#allow(`dynamodb:${call}`, resource),
        ),
        // The parameter is encrypted with `aws/ssm`, which every principal of the
        // account may use through SSM:
        // https://docs.aws.amazon.com/systems-manager/latest/userguide/ps-restrict-decryption.html
        allow('ssm:PutParameter', probeKeyArn(this, this.#stage)),
      ],
    });
    acknowledgeWildcards(policy, [stack], 'The end of the ARN of a stack is an id that AWS adds.');
    return policy;
  }

  /** Adds the functions. The function of an operation may find API keys and make the operation's calls. */
  #addFunctions(): ApiFunctions {
    const stage = this.#stage;
    const environment = {
      ...this.#tableNames(({ variable }) => variable),
      API_KEY_PREFIX: stage.apiKeyPrefix,
    };
    const findKey = this.#allow('dynamodb:GetItem', tables.keys.id);
    const functions = new Map<FunctionName, ApiFunction>();
    for (const { name } of operations) {
      const operationFunction = new ApiFunction(this, bundleName(name), {
        stage,
        reservedConcurrentExecutions: stage.reservedConcurrency?.eachOperation,
        environment,
        permissions: [
          findKey,
          ...detailsOf(name).calls.map(({ action, resource }) => this.#allow(action, resource)),
        ],
      });
      functions.set(name, operationFunction);
    }
    const fallback = new ApiFunction(this, 'fallback', {
      stage,
      reservedConcurrentExecutions: stage.reservedConcurrency?.fallback,
      environment: {},
      permissions: [],
    });
    return functions.set('fallback', fallback);
  }
}

const attribute = ({ name, type }: KeyAttribute) => ({ name, type: AttributeType[type] });
