import { describe, expect, it } from 'vitest';
import { destructiveChangesIn, refuseLosses } from '../../infra/commands/deploy/change-set.ts';

const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';
const domain = 'AWS::ApiGateway::DomainName';

describe('a change set', () => {
  const contextOf = (...indexes: string[]) =>
    JSON.stringify({
      Properties: { GlobalSecondaryIndexes: indexes.map((IndexName) => ({ IndexName })) },
    });
  /** A change of a table that has one index, to one that has these. */
  const toIndexes = (...indexes: string[]) => ({
    Action: 'Modify' as const,
    ResourceType: table,
    LogicalResourceId: 'Kept',
    Replacement: 'False' as const,
    Details: [{ Target: { Name: 'GlobalSecondaryIndexes' } }],
    BeforeContext: contextOf('byStatus'),
    AfterContext: contextOf(...indexes),
  });
  const { BeforeContext: _before, AfterContext: _after, ...toUnnamedIndexes } = toIndexes();
  const change = (
    ResourceType: string,
    Action: 'Add' | 'Dynamic' | 'Import' | 'Modify' | 'Remove',
    Replacement?: 'True' | 'False' | 'Conditional',
  ) => ({ ResourceType, LogicalResourceId: 'Kept', Action, Replacement });
  const newVersion = change('AWS::Lambda::Version', 'Add');

  it.each([
    ['replaces a table', [change(table, 'Modify', 'True')]],
    ['may replace a table', [change(table, 'Modify', 'Conditional')]],
    ['removes a table', [change(table, 'Remove')]],
    ['changes a table in a way that is not known yet', [change(table, 'Dynamic')]],
    ['replaces the API', [change(api, 'Modify', 'True')]],
    ['removes the API', [change(api, 'Remove')]],
    ['removes a domain', [change(domain, 'Remove')]],
    ['removes an index', [toIndexes()]],
  ])('that %s is refused, unless the operator accepts the loss', (_what, resources) => {
    const changes = resources.map((ResourceChange) => ({ ResourceChange }));
    expect(() => refuseLosses(changes, {})).toThrow(AggregateError);
    expect(() => refuseLosses(changes, { revert: true })).toThrow(AggregateError);
    expect(() => refuseLosses(changes, { destructive: true })).not.toThrow();
  });

  it('says how to change indexes on an emulator, which names none', () => {
    const lines = destructiveChangesIn([{ ResourceChange: toUnnamedIndexes }]);
    expect(lines).toEqual([expect.stringMatching(/emulator.* --destructive/)]);
  });

  it.each([
    ['one index with new code', [toIndexes('byStatus', 'byName'), newVersion]],
    ['two indexes', [toIndexes('byStatus', 'byName', 'byAge')]],
  ])('that adds %s is refused', (_what, resources) => {
    const changes = resources.map((ResourceChange) => ({ ResourceChange }));
    expect(() => refuseLosses(changes, { destructive: true })).toThrow(AggregateError);
  });

  it.each([
    ['adds a table', [change(table, 'Add')]],
    ['imports a table', [change(table, 'Import')]],
    ['changes a table in place', [change(table, 'Modify', 'False')]],
    ['changes the API in place', [change(api, 'Modify', 'False')]],
    ['adds new code, and removes old', [newVersion, change('AWS::Lambda::Version', 'Remove')]],
    ['replaces a snapshot of the API', [change('AWS::ApiGateway::Deployment', 'Modify', 'True')]],
    ['keeps its indexes', [toIndexes('byStatus'), newVersion]],
    ['adds one index', [toIndexes('byStatus', 'byName')]],
  ])('that %s is accepted', (_what, resources) => {
    const changes = resources.map((ResourceChange) => ({ ResourceChange }));
    expect(() => refuseLosses(changes, {})).not.toThrow();
  });
});
