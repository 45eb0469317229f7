import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { functionNames, githubStackName } from '../../infra/settings/names.ts';
import type { GithubRepository } from '../../infra/settings/owner.ts';
import type { Stage } from '../../infra/settings/stages.ts';
import { GithubStack } from '../../infra/stacks/github-stack.ts';
import { newApp, propertiesOf, stackOf, withoutHash } from '../support/templates.ts';
import { alarmsOf } from './stack-alarms.ts';

/**
 * The types of resources of a stage that the text shows, each with the properties that it leaves out:
 * sentences, what connects resources and follows from their ids, and what has a section or a test of its own.
 */
const shownTypes = {
  'AWS::ApiGateway::Account': [],
  'AWS::ApiGateway::GatewayResponse': ['ResponseTemplates', 'ResponseType'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['DeploymentId', 'MethodSettings'],
  'AWS::CodeDeploy::DeploymentConfig': ['ComputePlatform'],
  'AWS::CodeDeploy::DeploymentGroup': ['ApplicationName', 'DeploymentStyle', 'ServiceRoleArn'],
  'AWS::DynamoDB::Table': ['AttributeDefinitions'],
  'AWS::Events::Rule': [],
  'AWS::IAM::ManagedPolicy': ['Path'],
  'AWS::Lambda::Alias': ['FunctionName'],
  'AWS::Lambda::Function': ['Code', 'Handler', 'Role'],
  'AWS::Lambda::Version': ['FunctionName'],
  'AWS::Logs::LogGroup': [],
  'AWS::Logs::QueryDefinition': ['Name', 'Parameters'],
  'AWS::SNS::TopicPolicy': ['Topics'],
  'AWS::WAFv2::LoggingConfiguration': [],
  'AWS::WAFv2::WebACL': ['CustomResponseBodies', 'Name', 'Rules', 'Scope'],
  'AWS::WAFv2::WebACLAssociation': [],
};

/** The types of resources that the stack of GitHub's roles has. */
const githubTypes = ['AWS::IAM::OIDCProvider', 'AWS::IAM::Role'];

/** The properties that the text leaves out in every place. */
const leftOut = ['Description', 'KeySchema', 'RestApiId', 'Tags', 'Version'];

/** The name of a function, as logical ids have it: the longest, where one name is the start of another. */
const functionName = new RegExp(functionNames.toSorted().reverse().join('|').toLowerCase());

/** Returns a stack's template with logical ids in place of references, and `<stage>` for its name. */
const readable = (stack: Stack, stage: string) =>
  Template.fromJSON(
    JSON.parse(JSON.stringify(Template.fromStack(stack).toJSON()), (name, value) => {
      if (leftOut.includes(name)) return undefined;
      if (name === 'Format') return JSON.parse(value);
      if (name === 'LogGroupNames') return [listOf(value)];
      // A saved query, without the comment at its start.
      if (name === 'QueryString' && typeof value === 'string')
        return value.replace(/^#.*\n/, '').replaceAll('\n', ' ');
      if (value.Ref) return withoutHash(value.Ref);
      if (value['Fn::GetAtt']) return value['Fn::GetAtt'].map(withoutHash).join('.');
      if (value['Fn::Join']) return value['Fn::Join'][1].join('');
      // A rule of a managed group whose action is overridden.
      if (value.ActionToUse) return `${Object.keys(value.ActionToUse)} ${value.Name}`;
      if (typeof value === 'string')
        return value.replaceAll(`animal-store-${stage}`, 'animal-store-<stage>');
      return value;
    }),
  );

/** Returns a line for each property of a value. It starts with the path of the property. */
const linesOf = (value: object): string[] =>
  Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined) return [];
    if (Array.isArray(inner) && typeof inner[0] === 'string') return `${name} ${inner.join(', ')}`;
    if (typeof inner !== 'object') return `${name} ${inner}`;
    // A statement of a policy.
    if ('Effect' in inner) return linesOf(inner).join(', ');
    if ('Name' in inner && 'Value' in inner) return `${inner.Name} ${inner.Value}`;
    const lines = linesOf(inner);
    return lines.length === 0 ? name : lines.map((line) => `${name}.${line}`);
  });

/** What the text shows under one name, such as a resource. */
type Entry = readonly [name: string, lines: readonly string[]];

/**
 * The entry of a resource. What belongs to one function names it `<function>`, so that the functions have the
 * same lines.
 */
const entryOf = (id: string, lines: readonly string[]): Entry => {
  const [own] = functionName.exec(id) ?? [];
  return [
    withoutHash(id),
    own ? lines.map((line) => line.replaceAll(new RegExp(own, 'gi'), '<function>')) : lines,
  ];
};

const resources = (template: Template, type: string, without: readonly string[]): Entry[] =>
  Object.entries(template.findResources(type)).map(([id, { Properties, ...resource }]) => {
    const shown = Object.entries(Properties).filter(([name]) => !without.includes(name));
    const { DeletionPolicy, UpdateReplacePolicy, UpdatePolicy } = resource;
    const policies = { DeletionPolicy, UpdateReplacePolicy, UpdatePolicy };
    return entryOf(id, linesOf({ ...Object.fromEntries(shown), ...policies }));
  });

const alarms = (template: Template): Entry[] =>
  alarmsOf(template).map(({ name, condition, metrics, ActionsEnabled }) => {
    const measured = metrics.map(({ id, Stat, Namespace, MetricName, Dimensions }) => {
      // The CDK numbers the metrics of a sum.
      const prefix = /^m\d*$/.test(id) ? '' : `${id}: `;
      return `${prefix}${Stat} of ${Namespace} ${MetricName} (${linesOf(Dimensions).join(', ')})`;
    });
    return entryOf(name, [`Goes off if ${condition}`, ...measured, ...linesOf({ ActionsEnabled })]);
  });

const methods = (template: Template): Entry[] =>
  propertiesOf(template, 'AWS::ApiGateway::Stage')
    .flatMap(({ MethodSettings }) => MethodSettings)
    .map(({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit, ...others }) => {
      const path = ResourcePath.replace('/~1', '~1').replaceAll('~1', '/');
      const throttle = `${ThrottlingRateLimit} requests a second, bursts of ${ThrottlingBurstLimit}`;
      return [`${HttpMethod} ${path}`, [throttle, ...linesOf(others)]];
    });

const rules = (template: Template): Entry[] =>
  propertiesOf(template, 'AWS::WAFv2::WebACL')
    .flatMap(({ Rules }) => Rules)
    // A managed group, and the metric of a rule, have the name of the rule.
    .map(({ Name, ...rule }) => [Name, linesOf(rule).filter((line) => !line.endsWith(Name))]);

const outputs = (template: Template): Entry[] =>
  Object.entries(template.findOutputs('*')).map(([name, { Value }]) => [name, linesOf({ Value })]);

/** A metric in a graph: its names and those of its dimensions, and then how it is drawn. */
type Metric = readonly (string | Readonly<Record<string, string | number>>)[];

/** What the graphs of the dashboard draw, without their labels. */
const graphs = (template: Template): Entry[] =>
  propertiesOf(template, 'AWS::CloudWatch::Dashboard').map(({ DashboardName, DashboardBody }) => {
    const { widgets }: { widgets: { properties: { title: string; metrics?: Metric[] } }[] } =
      JSON.parse(DashboardBody);
    const drawn = widgets.flatMap(({ properties: { title, metrics } }) =>
      metrics ? `${title}: ${listOf(metrics.map(textOf))}` : [],
    );
    return [DashboardName, drawn];
  });

const textOf = (metric: Metric): string => {
  const names = metric.filter((part) => typeof part === 'string').join(' ');
  const drawn = metric.find((part) => typeof part === 'object') ?? {};
  const { id, expression, stat = 'Average', period = 300 } = drawn;
  return `${id ? `${id}: ` : ''}${expression ?? `${stat} of ${names}`} over ${period} s`;
};

/** In metrics, the functions have their own names. */
const anyFunction = new RegExp(functionName, 'gi');

/** Returns names in one line, with `<function>` where all functions of the API are meant. */
const listOf = (names: readonly string[]) =>
  [...Map.groupBy(names, (name) => name.replaceAll(anyFunction, '<function>'))]
    .flatMap(([name, same]) => (same.length === functionNames.length ? name : same))
    .sort()
    .join(', ');

/** Returns each line once: those of all entries, and then the others, after the names of their entries. */
const merged = (entries: readonly Entry[]): string[] => {
  const ofAll: string[] = [];
  const ofSome: string[] = [];
  for (const line of new Set(entries.flatMap(([, lines]) => lines))) {
    const having = entries.filter(([, lines]) => lines.includes(line)).map(([name]) => name);
    if (having.length === entries.length) ofAll.push(line);
    else ofSome.push(`${listOf(having)}: ${line}`);
  }
  return [...ofAll.sort(), ...ofSome.sort()];
};

/** Returns a section of the text. What only some stages have begins with their names. */
const section = <Of>(
  title: string,
  parts: ReadonlyMap<string, Of>,
  entriesOf: (part: Of) => readonly Entry[],
): string[] => {
  const stages = [...parts].map(([stage, part]) => ({ stage, of: entriesOf(part) }));
  const titles = stages.map(({ stage, of }): Entry => {
    return [stage, [`${title}: ${listOf(of.map(([name]) => name)) || 'none'}`]];
  });
  const lines = stages.map(({ stage, of }): Entry => [stage, merged(of)]);
  return [...merged(titles), ...merged(lines).map((line) => `  ${line}`)];
};

/** The settings of a stack itself, which are not in its template. */
const stackEntry = ({ stackName, environment, terminationProtection, tags }: Stack): Entry[] => [
  [stackName, linesOf({ environment, terminationProtection, ...tags.tagValues() })],
];

/**
 * Returns what an operator notices of stages, and of the roles that the workflows of a repository have, a
 * property a line, without sentences. A resource that appears or goes away shows too.
 */
export const deployedText = (stages: readonly Stage[], repository: GithubRepository): string => {
  const ofStages = new Map(stages.map((stage) => [stage.name, stackOf(stage)]));
  const templates = new Map(Array.from(ofStages, ([name, stack]) => [name, readable(stack, name)]));
  const github = new GithubStack(newApp(), githubStackName, stages, repository);
  const githubTemplate = new Map([['GitHub', readable(github, 'GitHub')]]);
  return [
    ...section('Stacks', new Map<string, Stack>([...ofStages, ['GitHub', github]]), stackEntry),
    ...Object.entries(shownTypes).flatMap(([type, without]) =>
      section(type, templates, (template) => resources(template, type, without)),
    ),
    ...section('Alarms', templates, alarms),
    ...section('Methods of the API', templates, methods),
    ...section('Rules of the firewall', templates, rules),
    ...section('Graphs', templates, graphs),
    ...section('Outputs', templates, outputs),
    ...githubTypes.flatMap((type) =>
      section(`GitHub: ${type}`, githubTemplate, (template) => resources(template, type, [])),
    ),
    '',
  ].join('\n');
};
