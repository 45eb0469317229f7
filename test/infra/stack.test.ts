import { describe, expect, it } from 'vitest';
import { stages } from '../../infra/settings/stages.ts';
import { deployedTemplate, propertiesOf } from '../support/templates.ts';

const key = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });

describe.each(stages)('stack of $name', (stage) => {
  const template = deployedTemplate(stage);

  // API Gateway processes header names case-sensitively, and HTTP/2 clients send `authorization`.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  it('validates no request before its function does', () => {
    template.resourceCountIs('AWS::ApiGateway::RequestValidator', 0);
    for (const method of propertiesOf(template, 'AWS::ApiGateway::Method')) {
      expect(method).not.toHaveProperty('RequestValidatorId');
      expect(method).not.toHaveProperty('RequestParameters');
    }
  });

  it('lets nobody start its functions by a test invocation of a method', () => {
    for (const { SourceArn } of propertiesOf(template, 'AWS::Lambda::Permission'))
      expect(JSON.stringify(SourceArn)).not.toContain('test-invoke-stage');
  });

  it('writes a line of JSON for each request, without what could hold an API key', () => {
    const [{ AccessLogSetting } = {}] = propertiesOf(template, 'AWS::ApiGateway::Stage');
    for (const variable of Object.values(JSON.parse(AccessLogSetting.Format))) {
      expect(variable).toMatch(/^\$context\.[\w.]+$/);
      expect(variable).not.toMatch(/error\.message|\.path$|userAgent|context\.requestId|raceId/);
    }
  });

  it('keeps the logical id of all that holds data, its keys and indexes, and the logical id of the API', () => {
    const pinned = {
      ...template.findResources('AWS::DynamoDB::Table'),
      ...template.findResources('AWS::ApiGateway::RestApi'),
    };
    const expected = {
      PetsTable56B0D675: {
        Properties: {
          KeySchema: [key('id', 'HASH')],
          GlobalSecondaryIndexes: [
            { IndexName: 'byStatus', KeySchema: [key('status', 'HASH'), key('id', 'RANGE')] },
          ],
        },
      },
      KeysTableDD857A22: { Properties: { KeySchema: [key('keyId', 'HASH')] } },
      ApiRestApiE35FEAFE: {},
    };
    expect(
      pinned,
      'CloudFormation replaces a resource whose logical id or key changes: the data stays behind in the old table, ' +
        'or clients lose the address of the API. Take back what renamed the construct or changed its key. If it is ' +
        'meant, follow "Tables and indexes" in infra/releases.md first, then change this test. During a canary the old ' +
        'version uses these tables too: add an index in one release, and remove the one before in a later release.',
    ).toMatchObject(expected);
    const unknown = Object.keys(pinned).filter((id) => !(id in expected));
    const reason =
      'Add each new table, with its keys and indexes, to this test, and release it before the code that uses it';
    expect(unknown, reason).toEqual([]);
  });
});
