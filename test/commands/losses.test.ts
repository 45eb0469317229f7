import { describe, expect, it } from 'vitest';
import { refuseLosses, type Template } from '../../infra/commands/deploy/losses.ts';
import { prod } from '../../infra/settings/stages.ts';
import { templateOf } from '../support/templates.ts';

const table = 'AWS::DynamoDB::Table';
const attributes = (types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
const keys = (...names: string[]) => names.map((AttributeName) => ({ AttributeName }));
const index = (IndexName: string, key = 'status', Projection = 'ALL') => ({
  ...{ IndexName, KeySchema: keys(key), Projection: { ProjectionType: Projection } },
});
const properties = {
  AttributeDefinitions: attributes({ id: 'N', status: 'S' }),
  KeySchema: keys('id'),
  GlobalSecondaryIndexes: [index('byStatus')],
};
const withTable = (changed: object) => ({
  Kept: { Type: table, Properties: { ...properties, ...changed } },
});
const withIndexes = (...GlobalSecondaryIndexes: object[]) => withTable({ GlobalSecondaryIndexes });
const withDomain = (DomainName: string) => ({
  Domain: { Type: 'AWS::ApiGateway::DomainName', Properties: { DomainName } },
});
const deployed = {
  Resources: {
    ...withTable({}),
    ...withDomain('a.test'),
    Api: { Type: 'AWS::ApiGateway::RestApi' },
    OldVersion: { Type: 'AWS::Lambda::Version' },
  },
};
const newVersion = { NewVersion: { Type: 'AWS::Lambda::Version' } };
const { Kept: _table, ...withoutTable } = deployed.Resources;
const { Api: _api, ...withoutApi } = deployed.Resources;
const { Domain: _domain, ...withoutDomain } = deployed.Resources;

describe('a template', () => {
  it.each([
    ['removes a table', withoutTable],
    ['removes the API', withoutApi],
    ['removes a domain', withoutDomain],
    ['changes the name of a domain', { ...deployed.Resources, ...withDomain('b.test') }],
    ['names a table', { ...deployed.Resources, ...withTable({ TableName: 'pets' }) }],
    [
      'changes the key of a table',
      { ...deployed.Resources, ...withTable({ KeySchema: keys('status') }) },
    ],
    [
      'changes the type of a key',
      {
        ...deployed.Resources,
        ...withTable({ AttributeDefinitions: attributes({ id: 'S', status: 'S' }) }),
      },
    ],
    ['removes an index', { ...deployed.Resources, ...withIndexes() }],
    [
      'changes the key of an index',
      { ...deployed.Resources, ...withIndexes(index('byStatus', 'id')) },
    ],
    [
      'changes the projection of an index',
      { ...deployed.Resources, ...withIndexes(index('byStatus', 'status', 'KEYS_ONLY')) },
    ],
  ])('that %s is refused, unless the operator accepts the loss', (_what, Resources) => {
    expect(() => refuseLosses(deployed, { Resources }, {})).toThrow(AggregateError);
    expect(() => refuseLosses(deployed, { Resources }, { revert: true })).toThrow(AggregateError);
    expect(() => refuseLosses(deployed, { Resources }, { destructive: true })).not.toThrow();
  });

  const two = withIndexes(index('byStatus'), index('byName'));
  const three = withIndexes(index('byStatus'), index('byName'), index('byAge'));
  it.each([
    ['one index with new code', { ...two, ...newVersion }, {}],
    ['two indexes', three, {}],
    ['one index on the way back', two, { revert: true as const }],
  ])('that adds %s is refused', (_what, changed, options) => {
    const Resources = { ...deployed.Resources, ...changed };
    const run = () => refuseLosses(deployed, { Resources }, { ...options, destructive: true });
    expect(run).toThrow(AggregateError);
  });

  it.each([
    ['adds a table with new code', { ...newVersion, Other: withTable({}).Kept }],
    ['changes a table in place', withTable({ BillingMode: 'PAY_PER_REQUEST' })],
    ['adds new code', newVersion],
    ['adds one index', two],
    [
      'has the same keys in another order',
      withTable({ AttributeDefinitions: attributes({ status: 'S', id: 'N' }) }),
    ],
  ])('that %s is accepted', (_what, changed) => {
    const Resources = { ...deployed.Resources, ...changed };
    expect(() => refuseLosses(deployed, { Resources }, {})).not.toThrow();
  });

  it('of this service has what can be lost', () => {
    const template: Template = JSON.parse(JSON.stringify(templateOf(prod)));
    const lost = { errors: expect.objectContaining({ length: 5 }) };
    expect(() => refuseLosses(template, { Resources: {} }, {})).toThrow(
      expect.objectContaining(lost),
    );
  });
});
