import { describe, expect, it } from 'vitest';
import { parseTemplate, refuseLosses } from '../../infra/commands/deploy/losses.ts';

const id = { AttributeName: 'id', AttributeType: 'N' };
const status = { AttributeName: 'status', AttributeType: 'S' };
const age = { AttributeName: 'age', AttributeType: 'N' };
const keys = (...names: string[]) => names.map((AttributeName) => ({ AttributeName }));
const index = (IndexName: string, key = 'status', ProjectionType = 'ALL') => ({
  ...{ IndexName, KeySchema: keys(key), Projection: { ProjectionType } },
});
const properties = {
  AttributeDefinitions: [id, status],
  KeySchema: keys('id'),
  LocalSecondaryIndexes: [index('local')],
  GlobalSecondaryIndexes: [index('byStatus')],
};
const withTable = (changed: object, resource = {}) => ({
  Kept: {
    Type: 'AWS::DynamoDB::Table',
    Condition: 'IsKept',
    Properties: { ...properties, ...changed },
    ...resource,
  },
});
const withIndexes = (...GlobalSecondaryIndexes: object[]) => withTable({ GlobalSecondaryIndexes });
const withAttributes = (...AttributeDefinitions: object[]) => withTable({ AttributeDefinitions });
const withDomain = (DomainName: unknown) => ({
  Domain: { Type: 'AWS::ApiGateway::DomainName', Properties: { DomainName } },
});
const name = { 'Fn::Sub': [`\${Host}.\${Zone.Name}`, { Host: { 'Fn::FindInMap': ['Hosts', 1] } }] };
const resources = {
  ...withTable({}),
  ...withDomain(name),
  Api: { Type: 'AWS::ApiGateway::RestApi' },
  Zone: { Type: 'AWS::Route53::HostedZone', Properties: { Name: 'store.test' } },
  OldVersion: { Type: 'AWS::Lambda::Version' },
};
const definitions = {
  Parameters: { Kind: { Type: 'String', Default: 'store' } },
  Mappings: { Hosts: { 1: 'api' } },
  Conditions: { IsKept: { 'Fn::Equals': [{ Ref: 'Kind' }, 'store'] } },
};
const newVersion = { NewVersion: { Type: 'AWS::Lambda::Version' } };

const parse = (template: object) => parseTemplate(JSON.stringify(template));
/** Compares the deployed template with one in which these resources and definitions differ. */
const compare = (changed: object, options = {}, others = {}) =>
  refuseLosses(
    parse({ ...definitions, Resources: resources }),
    parse({ ...definitions, ...others, Resources: { ...resources, ...changed } }),
    options,
  );
const table = /^AWS::DynamoDB::Table Kept would be removed or replaced/;
const domain = /^AWS::ApiGateway::DomainName Domain would/;
const byStatus = /^Index byStatus of AWS::DynamoDB::Table Kept would/;

describe('a template', () => {
  it.each<[what: string, lost: RegExp, changed: object, definitions?: object]>([
    ['removes a table', table, { Kept: undefined }],
    ['removes the API', /^AWS::ApiGateway::RestApi Api would/, { Api: undefined }],
    ['removes a domain', domain, { Domain: undefined }],
    ['makes a table something else', table, withTable({}, { Type: 'AWS::DynamoDB::GlobalTable' })],
    ['names a table', table, withTable({ TableName: 'pets' })],
    ['changes the key of a table', table, withTable({ KeySchema: keys('status') })],
    [
      'changes the type of an attribute',
      table,
      withAttributes(id, { ...status, AttributeType: 'N' }),
    ],
    ['removes a local index', table, withTable({ LocalSecondaryIndexes: [] })],
    ['imports a table', table, withTable({ ImportSourceSpecification: {} })],
    ['changes the condition of a table', table, withTable({}, { Condition: 'IsOther' })],
    ['defines the condition of a table otherwise', table, {}, { Conditions: { IsKept: {} } }],
    ['changes a parameter behind a condition', table, {}, { Parameters: { Kind: {} } }],
    ['changes the name of a domain', domain, withDomain('b.test')],
    ['changes a mapping behind the name of a domain', domain, {}, { Mappings: { Hosts: {} } }],
    ['changes a resource behind the name of a domain', domain, { Zone: { Type: 'Other' } }],
    ['removes an index', byStatus, withIndexes()],
    ['changes the key of an index', byStatus, withIndexes(index('byStatus', 'id'))],
    ['copies less to an index', byStatus, withIndexes(index('byStatus', 'status', 'KEYS_ONLY'))],
  ])('that %s is refused, unless the operator accepts the loss', (_what, lost, changed, others) => {
    for (const options of [{}, { revert: true }]) {
      const errors = expect.arrayContaining([expect.stringMatching(lost)]);
      expect(() => compare(changed, options, others)).toThrow(expect.objectContaining({ errors }));
    }
    expect(() => compare(changed, { destructive: true }, others)).not.toThrow();
  });

  const two = withIndexes(index('byStatus'), index('byName'));
  it.each([
    ['one index with new code', { ...two, ...newVersion }, {}],
    ['two indexes', withIndexes(index('byStatus'), index('byName'), index('byAge')), {}],
    ['one index on the way back', two, { revert: true }],
    ['another key with new code', { ...withIndexes(index('byStatus', 'id')), ...newVersion }, {}],
  ])('that adds %s is refused', (_what, changed, options) => {
    expect(() => compare(changed, { ...options, destructive: true })).toThrow(AggregateError);
  });

  it.each([
    ['adds a table with new code', { ...newVersion, Other: withTable({}).Kept }],
    ['changes a table in place', withTable({ BillingMode: 'PAY_PER_REQUEST' })],
    ['adds new code', newVersion],
    ['adds one index', two],
    ['has the same keys in another order, and one more', withAttributes(status, age, id)],
  ])('that %s is accepted', (_what, changed) => {
    expect(() => compare(changed)).not.toThrow();
  });
});
