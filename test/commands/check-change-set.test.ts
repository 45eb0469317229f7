import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Runs the check on a change of a resource, as CloudFormation describes one. */
const check = (ResourceType: string, Action: string, Replacement?: string) =>
  spawnSync(process.execPath, ['infra/commands/check-change-set.ts'], {
    input: JSON.stringify({
      Status: 'CREATE_COMPLETE',
      Changes: [
        {
          Type: 'Resource',
          ResourceChange: { Action: 'Add', ResourceType, LogicalResourceId: 'New' },
        },
        {
          Type: 'Resource',
          ResourceChange: { Action, ResourceType, LogicalResourceId: 'Kept', Replacement },
        },
      ],
    }),
    encoding: 'utf8',
  });

const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';

describe('the check of a change set', () => {
  it.each([
    [table, 'Modify', 'True'],
    [table, 'Modify', 'Conditional'],
    [table, 'Remove', undefined],
    [table, 'Dynamic', undefined],
    [api, 'Modify', 'True'],
    [api, 'Remove', undefined],
  ])('refuses %s: %s, replacement %s, and names the resource', (type, action, replacement) => {
    const { status, stderr } = check(type, action, replacement);
    expect(stderr).toMatch(new RegExp(`^error: ${type} Kept: ${action}[^\n]*\n$`));
    expect(status).toBe(1);
  });

  it.each([
    [table, 'Add', undefined],
    [table, 'Import', undefined],
    [table, 'Modify', 'False'],
    [api, 'Modify', 'False'],
    ['AWS::Lambda::Version', 'Remove', undefined],
    ['AWS::ApiGateway::Deployment', 'Modify', 'True'],
  ])('accepts %s: %s, replacement %s', (type, action, replacement) => {
    expect(check(type, action, replacement)).toMatchObject({ status: 0, stderr: '' });
  });

  it('fails on input that is not a change set', () => {
    const { status } = spawnSync(process.execPath, ['infra/commands/check-change-set.ts'], {
      input: '{}',
    });
    expect(status).toBe(1);
  });
});
