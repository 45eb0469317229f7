import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  type TableProps,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { createPet, getPet, listPets } from '../../lib/contract/operations.ts';
import { statusIndex } from '../../lib/contract/tables.ts';
import { PetsApi } from '../api/pets-api.ts';
import { CanaryDeployment } from '../lambda/canary-deployment.ts';
import { ServiceFunction } from '../lambda/service-function.ts';
import { Monitoring } from '../monitoring/monitoring.ts';
import { requireOrigins, requireSafe, type Stage } from '../stages.ts';

export interface AnimalStoreStackProps {
  readonly stage: Stage;
}

/**
 * One stage of the animal store: its tables, a function per operation, and the REST API before them.
 * Throws when the stage is prod and its values are unsafe, or when it names what is no origin.
 */
export class AnimalStoreStack extends Stack {
  constructor(scope: Construct, id: string, { stage }: AnimalStoreStackProps) {
    requireSafe(stage);
    requireOrigins(stage);
    super(scope, id, {
      description: `Animal store service, ${stage.name}`,
      ...(stage.environment && { env: stage.environment }),
      tags: { ...stage.tags },
      terminationProtection: stage.terminationProtection,
    });

    const tableDefaults = {
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: stage.maximumUnits.read,
      maxWriteRequestUnits: stage.maximumUnits.write,
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: stage.deletionProtection,
      ...(stage.pointInTimeRecoveryDays > 0 && {
        pointInTimeRecoverySpecification: {
          pointInTimeRecoveryEnabled: true,
          recoveryPeriodInDays: stage.pointInTimeRecoveryDays,
        },
      }),
    } satisfies Partial<TableProps>;

    const petsTable = new Table(this, 'PetsTable', {
      ...tableDefaults,
      partitionKey: { name: 'id', type: AttributeType.NUMBER },
    });
    petsTable.addGlobalSecondaryIndex({
      indexName: statusIndex,
      partitionKey: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'id', type: AttributeType.NUMBER },
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: ['name', 'categoryId'],
      maxReadRequestUnits: stage.maximumUnits.read,
      maxWriteRequestUnits: stage.maximumUnits.write,
    });
    const keysTable = new Table(this, 'KeysTable', {
      ...tableDefaults,
      partitionKey: { name: 'keyId', type: AttributeType.STRING },
    });

    const environment = {
      PETS_TABLE: petsTable.tableName,
      KEYS_TABLE: keysTable.tableName,
      API_KEY_PREFIX: stage.apiKeyPrefix,
    };
    const findApiKeys = allow('dynamodb:GetItem', keysTable.tableArn);
    const operationFunction = (name: string, statement: PolicyStatement) =>
      new ServiceFunction(this, name, {
        stage,
        environment,
        permissions: [findApiKeys, statement],
      });

    const functions = new Map([
      [
        listPets,
        operationFunction(
          'list-pets',
          allow('dynamodb:Query', `${petsTable.tableArn}/index/${statusIndex}`),
        ),
      ],
      [createPet, operationFunction('create-pet', allow('dynamodb:PutItem', petsTable.tableArn))],
      [getPet, operationFunction('get-pet', allow('dynamodb:GetItem', petsTable.tableArn))],
    ]);
    const unrouted = new ServiceFunction(this, 'unrouted', {
      stage,
      environment: {},
      permissions: [],
    });
    const api = new PetsApi(this, 'Api', { stage, functions, unrouted });
    if (stage.alarmAddressees.length > 0) {
      const { restApi } = api;
      const monitoring = new Monitoring(this, 'Monitoring', {
        stage,
        restApi,
        functions,
        unrouted,
        petsTable,
        keysTable,
      });
      if (stage.deployment === 'canary') {
        new CanaryDeployment(this, 'Canary', {
          functions: [...functions.values(), unrouted],
          monitoring,
        });
      }
    }

    new CfnOutput(this, 'BaseAddress', { value: api.baseAddress });
    if (api.domainTarget) new CfnOutput(this, 'DomainTarget', { value: api.domainTarget });
    new CfnOutput(this, 'PetsTableName', { value: petsTable.tableName });
    new CfnOutput(this, 'KeysTableName', { value: keysTable.tableName });
  }
}

const allow = (action: string, resource: string) =>
  new PolicyStatement({ actions: [action], resources: [resource] });
