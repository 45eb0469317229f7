import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionNames, probeKeyParameter } from '../../infra/settings/names.ts';
import { type GithubRepository, githubRepository } from '../../infra/settings/owner.ts';
import { type Stage, stages } from '../../infra/settings/stages.ts';
import { GithubStack } from '../../infra/stacks/github-stack.ts';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { takesIdempotencyKey } from '../../lib/operations/operation.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import { exampleOf, exampleRequest } from '../support/events.ts';
import type { DynamodbAccess } from '../support/fault-proxy.ts';
import { jobsOf } from '../support/github-workflow.ts';
import { fromBundles, lambdaContext, startHandlers } from '../support/handlers.ts';
import { filterSets } from '../support/new-pets.ts';
import { walkPages } from '../support/pages.ts';
import { idOf, newApp, propertiesOf, templateOf } from '../support/templates.ts';

const service = await startHandlers(fromBundles);

/** The calls of DynamoDB that each function makes. */
const observed = new Map(functionNames.map((name) => [name, [] as DynamodbAccess[]]));

const observe = async <Result>(name: FunctionName, work: () => Promise<Result>) => {
  service.proxy.reset();
  const result = await work();
  observed.get(name)?.push(...service.proxy.accesses);
  return result;
};

for (const name of functionNames) {
  const { event, items, status } = exampleRequest(name, service.apiKey);
  await service.putItems(items);
  await observe(name, async () => {
    expect(await service[name](event, lambdaContext('request-id'))).toMatchObject({
      statusCode: status,
    });
  });
}
for (const [number, operation] of operations.entries()) {
  const { name, path } = operation;
  const { request, items } = exampleOf(operation, 100 + number);
  const sent = { ...request, headers: { 'Idempotency-Key': name } };
  const send = (parts = {}) => observe(name, () => service.send({ ...sent, ...parts }));
  const unknown = await send();
  if (path.includes('{'))
    expect(unknown.status, `${name} responds with 404 to an unknown id`).toBe(404);
  await service.putItems(items);
  if (!takesIdempotencyKey(operation)) continue;
  const { text } = await send();
  const replay = { text, headers: { 'Idempotent-Replayed': 'true' } };
  expect(await send(), `${name} has one result for one Idempotency-Key`).toMatchObject(replay);
  const bodies = Object.values(detailsOf(name).requestBody?.examples ?? {}).map(stringifyJson);
  const body = bodies.find((each) => each !== sent.body);
  const reason = `${name} refuses another body with the same Idempotency-Key`;
  if (body) expect((await send({ body })).status, reason).toBe(422);
}
const pet = { name: 'Rex', categoryId: 1, status: 'sold' };
await observe('listPets', () => walkPages(service.send, { limit: '1' }));
for (const filters of filterSets) {
  const query = Object.fromEntries(filters.map((name) => [name, `${Reflect.get(pet, name)}`]));
  await observe('listPets', () => service.send({ query }));
}

/**
 * Calls that a function no longer makes, by its name: its old version does, which runs with the role of the
 * new template during a canary. Add a call here in the release that ends it, and remove it here and from
 * `calls` in lib/operations/ in the next.
 */
const formerCalls: Partial<Record<FunctionName, readonly DynamodbAccess[]>> = {};

/** The actions of other services that each operation names. The proxy sees only calls of DynamoDB. */
const unseenActions = new Map<string, readonly string[]>(
  operations.map(({ name }) => [
    name,
    detailsOf(name).calls.flatMap(({ action }) => (action.startsWith('dynamodb:') ? [] : [action])),
  ]),
);

type Call = readonly [action: string, resource: unknown];

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const joined = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });

const each = ({ Effect, Action, Resource }: Statement): Call[] => {
  expect(Effect).toBe('Allow');
  return [Action]
    .flat()
    .flatMap((action) => [Resource].flat().map((resource): Call => [action, resource]));
};

/** Each different call once, in order. */
const sorted = (calls: readonly Call[]) =>
  [...new Set(calls.map((call) => JSON.stringify(call)))].toSorted((a, b) => a.localeCompare(b));

const account = '777777777777';
const region = 'eu-west-1';
const deployable = stages.map((stage) => ({ ...stage, env: { account, region } }));

describe.each(deployable)('in $name', (stage) => {
  const template = templateOf(stage);
  const table = (name: string) => arnOf(idOf(template, 'AWS::DynamoDB::Table', `${name}Table`));
  const readProbeKey: Call = [
    'ssm:GetParameter',
    `arn:aws:ssm:${region}:${account}:parameter${probeKeyParameter(stage)}`,
  ];
  const functionsOfApi = propertiesOf(template, 'AWS::Lambda::Alias').map(({ FunctionName }) =>
    arnOf(FunctionName.Ref),
  );
  const groups = Object.entries(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
  const groupArn = `arn:aws:codedeploy:${region}:${account}:deploymentgroup:`;

  const toCall = ({ action, table: name, index }: DynamodbAccess): Call => {
    const arn = table(name);
    return [`dynamodb:${action}`, index === undefined ? arn : joined(arn, `/index/${index}`)];
  };

  type Row = [name: string, idStart: string, ...calls: Call[]];
  /** The functions with which the stage checks itself, where it has alarms and a check before traffic. */
  const ownChecks: Row[] = [];
  if (stage.monitoring) ownChecks.push(['the probe', 'probe', readProbeKey]);
  if (stage.checkBeforeTraffic) {
    ownChecks.push([
      'the check before traffic',
      'Canarybeforetraffic',
      readProbeKey,
      ...functionsOfApi.map((arn): Call => ['lambda:InvokeFunction', joined(arn, ':*')]),
      ...groups.map(
        ([id, { Properties }]): Call => [
          'codedeploy:PutLifecycleEventHookExecutionStatus',
          joined(groupArn, Properties.ApplicationName, '/', { Ref: id }),
        ],
      ),
    ]);
  }

  it.each<Row>([
    ...functionNames.map(
      (name): Row => [
        name,
        name.toLowerCase(),
        ...[...(observed.get(name) ?? []), ...(formerCalls[name] ?? [])].map(toCall),
      ],
    ),
    ...ownChecks,
  ])('%s may make the calls that it makes, and no others', (name, idStart, ...calls) => {
    const roleId = idOf(template, 'AWS::IAM::Role', `${idStart}Role`);
    const role = template.findResources('AWS::IAM::Role')[roleId]?.['Properties'];
    const own = propertiesOf(template, 'AWS::IAM::Policy').filter(
      ({ Roles }) => Roles[0].Ref === roleId,
    );
    const documents = [...(role.Policies ?? []), ...own];
    const log = arnOf(idOf(template, 'AWS::Logs::LogGroup', `${idStart}Log`));
    expect(role.ManagedPolicyArns).toBeUndefined();
    const granted: Call[] = documents.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.flatMap(each),
    );
    const unseen = unseenActions.get(name) ?? [];
    expect(
      sorted(granted.filter(([action]) => !unseen.includes(action))),
      'A function makes a call that its operation in lib/operations/ does not name, or names one that it no longer makes. ' +
        'The old version needs its calls during a canary: see formerCalls.',
    ).toEqual(sorted([...calls, ['logs:CreateLogStream', log], ['logs:PutLogEvents', log]]));
  });
});

describe('the roles of the workflows on GitHub', () => {
  const synthesise = (
    settings: Partial<GithubRepository> = {},
    declared: readonly Stage[] = deployable,
  ) => {
    const repository = { ...githubRepository, accountsWithProvider: [], ...settings };
    return Template.fromStack(new GithubStack(newApp(), 'Github', declared, repository));
  };

  it('last as long as the job that deploys may take', () => {
    const minutes = jobsOf('stage')['deploy']?.['timeout-minutes'];
    for (const { MaxSessionDuration } of propertiesOf(synthesise(), 'AWS::IAM::Role'))
      expect(MaxSessionDuration).toBeGreaterThanOrEqual(60 * Number(minutes));
  });

  it('accept a name without ids only if the repository has such subjects', () => {
    const older = synthesise({ subjectsLackIds: true });
    for (const { AssumeRolePolicyDocument } of propertiesOf(older, 'AWS::IAM::Role')) {
      const { StringEquals } = AssumeRolePolicyDocument.Statement[0].Condition;
      expect(StringEquals['token.actions.githubusercontent.com:sub']).toMatch(
        /^repo:[^@]*:environment:/,
      );
    }
  });

  it('have a template before their stages have an account', () => {
    const env = { region };
    const without = stages.map((each) => ({ ...each, env }));
    synthesise({}, without).resourceCountIs('AWS::IAM::Role', stages.length);
  });

  it('use a provider that the account has already', () => {
    const imported = synthesise({ accountsWithProvider: [account] });
    imported.resourceCountIs('AWS::IAM::OIDCProvider', 0);
    const provider = `arn:aws:iam::${account}:oidc-provider/token.actions.githubusercontent.com`;
    for (const { AssumeRolePolicyDocument } of propertiesOf(imported, 'AWS::IAM::Role'))
      expect(AssumeRolePolicyDocument.Statement[0].Principal).toEqual({ Federated: provider });
  });
});
