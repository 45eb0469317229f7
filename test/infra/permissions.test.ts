import { describe, expect, it } from 'vitest';
import { probeKeyParameter } from '../../infra/names.ts';
import { stages } from '../../infra/stages.ts';
import { deployedTemplate, idOf, propertiesOf } from '../support/stack.ts';

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

const sorted = (calls: readonly Call[]) =>
  calls.map((call) => JSON.stringify(call)).toSorted((a, b) => a.localeCompare(b));

describe.each(Object.values(stages))('in $name', (stage) => {
  const template = deployedTemplate(stage);
  const { account, region } = stage.environment ?? {};
  const table = (name: string) => arnOf(idOf(template, 'AWS::DynamoDB::Table', name));
  const [pets, keys] = [table('PetsTable'), table('KeysTable')];
  const findKey: Call = ['dynamodb:GetItem', keys];
  const readProbeKey: Call = [
    'ssm:GetParameter',
    `arn:aws:ssm:${region}:${account}:parameter${probeKeyParameter(stage)}`,
  ];
  const functionsOfApi = propertiesOf(template, 'AWS::Lambda::Alias').map(({ FunctionName }) =>
    arnOf(FunctionName.Ref),
  );
  const groups = Object.entries(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
  const groupArn = `arn:aws:codedeploy:${region}:${account}:deploymentgroup:`;

  it.each<[name: string, idStart: string, ...calls: Call[]]>([
    ['list-pets', 'listpets', findKey, ['dynamodb:Query', joined(pets, '/index/byStatus')]],
    ['create-pet', 'createpet', findKey, ['dynamodb:PutItem', pets]],
    ['get-pet', 'getpet', findKey, ['dynamodb:GetItem', pets]],
    ['unrouted', 'unrouted'],
    ['the probe', 'probe', readProbeKey],
    [
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
    ],
  ])('%s may make only the calls that it makes', (_name, idStart, ...calls) => {
    const roleId = idOf(template, 'AWS::IAM::Role', `${idStart}Role`);
    const role = template.findResources('AWS::IAM::Role')[roleId]?.['Properties'];
    const own = propertiesOf(template, 'AWS::IAM::Policy').filter(
      ({ Roles }) => Roles[0].Ref === roleId,
    );
    const documents = [...(role.Policies ?? []), ...own];
    const log = arnOf(idOf(template, 'AWS::Logs::LogGroup', `${idStart}Log`));
    expect(role.ManagedPolicyArns).toBeUndefined();
    expect(
      sorted(documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(each))),
      'During a canary the old version runs with the role of the new template. Add a permission in one release, and ' +
        'remove the one that it replaces in a later release, when no version in service needs it; then change this list.',
    ).toEqual(
      sorted([
        ...calls,
        ['logs:CreateLogStream', log],
        ['logs:PutLogEvents', log],
        ['xray:PutTelemetryRecords', '*'],
        ['xray:PutTraceSegments', '*'],
      ]),
    );
  });

  it('key administrators have a policy for the commands of npm run keys, and nothing else', () => {
    const logs = ['listpets', 'createpet', 'getpet', 'unrouted'].map((start) =>
      idOf(template, 'AWS::Logs::LogGroup', `${start}Log`),
    );
    const [[policy, { Properties } = {}] = []] = Object.entries(
      template.findResources('AWS::IAM::ManagedPolicy'),
    );
    expect(sorted(Properties.PolicyDocument.Statement.flatMap(each))).toEqual(
      sorted([
        ['cloudformation:DescribeStacks', { Ref: 'AWS::StackId' }],
        ['dynamodb:GetItem', keys],
        ['dynamodb:PutItem', keys],
        ['dynamodb:Scan', keys],
        ['dynamodb:UpdateItem', keys],
        ['ssm:PutParameter', readProbeKey[1]],
        ...logs.flatMap((id): Call[] => [
          ['logs:GetQueryResults', arnOf(id)],
          ['logs:StartQuery', arnOf(id)],
        ]),
      ]),
    );
    template.hasOutput('LogGroupNames', {
      Value: { 'Fn::Join': [',', logs.map((Ref) => ({ Ref }))] },
    });
    template.hasOutput('KeyAdministrationPolicy', { Value: { Ref: policy } });
  });
});
