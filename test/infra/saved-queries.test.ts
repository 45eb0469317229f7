import { describe, expect, it, vi } from 'vitest';
import { prod } from '../../infra/settings/stages.ts';
import { json, jsonError, startAwsEndpoint } from '../support/aws-endpoint.ts';
import { captureLog } from '../support/captured-log.ts';
import { bearer } from '../support/events.ts';
import { type Fault, faults } from '../support/fault-proxy.ts';
import { fromBundles, lambdaContext, startHandlers } from '../support/handlers.ts';
import { deployedTemplate, propertiesOf } from '../support/templates.ts';

const service = await startHandlers(fromBundles);
const aws = await startAwsEndpoint();

/**
 * A line about a request that a rule of one of AWS's groups blocked, shortened from
 * https://docs.aws.amazon.com/waf/latest/developerguide/logging-examples.html
 */
const firewallLine =
  '{"timestamp":1683355579981,"terminatingRuleId":"AWSManagedRulesCommonRuleSet","terminatingRuleType":"MANAGED_RULE_GROUP","action":"BLOCK","ruleGroupList":[{"ruleGroupId":"AWS#AWSManagedRulesCommonRuleSet","terminatingRule":{"ruleId":"NoUserAgent_HEADER","action":"BLOCK"}}],"httpRequest":{"clientIp":"192.0.2.44","httpMethod":"GET"}}';

/** Runs something that logs one line, and returns the line. */
const lineOf = async (act: () => Promise<unknown>): Promise<string> => {
  const lines = captureLog();
  await act();
  vi.restoreAllMocks();
  expect(lines).toHaveLength(1);
  return `${lines[0]}`;
};

const failWithCorruptPet = async () => {
  const apiKey = await service.issueApiKey();
  await service.putPet({ id: 7, status: 'sold' });
  await service.send({ path: { petId: '7' }, headers: bearer(apiKey) });
};

const failWith = (fault: Fault) => async () => {
  service.proxy.inject('Query Pets', fault);
  await service.send();
  service.proxy.reset();
};

const failProbe = async () => {
  vi.stubEnv('PROBE_KEY_PARAMETER', 'none');
  const { handler } = await import('../../functions/self-check/probe.ts');
  await handler({}, lambdaContext('1'));
};

const failCheck = async () => {
  const { handler } = await import('../../functions/self-check/before-traffic.ts');
  const event = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'h-1' };
  await handler(event, lambdaContext('1', 60_000));
};

/**
 * Lines of each log as they are written, by the end of the log's id. Everything fails, because such lines
 * have all fields.
 */
const realLines = async (): Promise<readonly (readonly [RegExp, string])[]> => {
  for (const [name, value] of Object.entries(aws.variables)) vi.stubEnv(name, value);
  aws.responses = {
    GetParameter: jsonError('ParameterNotFound'),
    PutLifecycleEventHookExecutionStatus: json({}),
  };
  const [api] = propertiesOf(deployedTemplate(prod), 'AWS::ApiGateway::Stage');
  const requests = /^(listpets|createpet|getpet|fallback)Log/;
  return [
    [requests, await lineOf(failWithCorruptPet)],
    [requests, await lineOf(failWith(faults.accessDenied))],
    [requests, await lineOf(failWith(faults.resetBeforeForwarding))],
    [/AccessLog/, api?.['AccessLogSetting'].Format],
    [/FirewallLog/, firewallLine],
    [/^probeLog/, await lineOf(failProbe)],
    [/beforetrafficLog/, await lineOf(failCheck)],
  ];
};
const lines = await realLines();

/** Returns the names of a line's fields, as CloudWatch Logs Insights does: `cause.name`, `failures.0`. */
const namesIn = (value: unknown, path: readonly string[] = []): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => namesIn(inner, [...path, name]))
    : [path.join('.')];

const words =
  /^(fields|filter|stats|parse|sort|asc|desc|by|limit|like|as|count|pct|max|earliest|latest|ispresent)$/;

/** Returns the fields that a query names, except those that CloudWatch finds in every line. */
const fieldsOf = (query: string) => {
  const made = [...query.matchAll(/ as (\w+)|\(\?<(\w+)>/g)].map(([, one, other]) => one ?? other);
  const withoutValues = query.replaceAll(/^#.*|^\| parse .*|"[^"]*"|\/[^/]+\/|@\w+/gm, '');
  return [...withoutValues.matchAll(/[a-z][\w.]*/gi)]
    .map(([word]) => word)
    .filter((word) => !words.test(word) && !made.includes(word));
};

interface Query {
  readonly Name: string;
  readonly QueryString: string;
  readonly LogGroupNames: readonly { readonly Ref: string }[];
}

const queries: Query[] = propertiesOf(deployedTemplate(prod), 'AWS::Logs::QueryDefinition').map(
  ({ Name, QueryString, LogGroupNames }) => ({ Name, QueryString, LogGroupNames }),
);

describe('the saved queries', () => {
  it.each(queries)('$Name names fields that lines of its logs have', (query) => {
    const read = lines.filter(([id]) => query.LogGroupNames.some(({ Ref }) => id.test(Ref)));
    expect(read.length).toBeGreaterThan(0);
    const known = read.flatMap(([, line]) => namesIn(JSON.parse(line)));
    expect(known).toEqual(expect.arrayContaining(fieldsOf(query.QueryString)));
    for (const [, pattern = ''] of query.QueryString.matchAll(/parse @message \/(.+)\/$/gm))
      expect(read.map(([, line]) => line).join()).toMatch(new RegExp(pattern));
  });
});
