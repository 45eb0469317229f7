import { Template } from 'aws-cdk-lib/assertions';
import { functionNames, serviceName } from '../../infra/settings/names.ts';
import type { Stage } from '../../infra/settings/stages.ts';
import { propertiesOf, templateOf, withoutHash } from '../support/templates.ts';
import { alarmsOf } from './stack-alarms.ts';

/**
 * The types of resources that the text shows, each with the properties that it leaves out: sentences, what
 * connects resources and follows from their ids, and what has a section or a test of its own.
 */
const shownTypes = {
  'AWS::ApiGateway::GatewayResponse': ['ResponseTemplates', 'ResponseType'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['DeploymentId', 'MethodSettings'],
  'AWS::CodeDeploy::DeploymentConfig': ['ComputePlatform'],
  'AWS::CodeDeploy::DeploymentGroup': ['ApplicationName', 'DeploymentStyle', 'ServiceRoleArn'],
  'AWS::DynamoDB::Table': ['AttributeDefinitions'],
  'AWS::Events::Rule': [],
  'AWS::Lambda::Alias': ['FunctionName'],
  'AWS::Lambda::Function': ['Code', 'Handler', 'Role'],
  'AWS::Lambda::Version': ['FunctionName'],
  'AWS::Logs::LogGroup': [],
  'AWS::Logs::QueryDefinition': ['Name', 'Parameters'],
  'AWS::WAFv2::LoggingConfiguration': [],
  'AWS::WAFv2::WebACL': ['CustomResponseBodies', 'Name', 'Rules', 'Scope'],
  'AWS::WAFv2::WebACLAssociation': [],
};

/** The properties that the text leaves out in every place. */
const leftOut = ['Description', 'KeySchema', 'Priority', 'RestApiId', 'Tags'];

/** The name of a function, as logical ids have it: the longest, where one name is the start of another. */
const functionName = new RegExp(functionNames.toSorted().reverse().join('|').toLowerCase());

/** Returns a stage's template with logical ids in place of references, and `<stage>` for its name. */
const readable = (stage: Stage) =>
  Template.fromJSON(
    JSON.parse(JSON.stringify(templateOf(stage).toJSON()), (name, value) => {
      if (leftOut.includes(name)) return undefined;
      if (name === 'Format') return JSON.parse(value);
      if (name === 'LogGroupNames') return [listOf(value)];
      // Of a saved query, the text shows what it looks for.
      if (name === 'QueryString' && typeof value === 'string') return /filter .*/.exec(value)?.[0];
      if (value.Ref) return withoutHash(value.Ref);
      if (value['Fn::GetAtt']) return value['Fn::GetAtt'].map(withoutHash).join('.');
      if (value['Fn::Join']) return value['Fn::Join'][1].join('');
      // A rule of a managed group whose action is overridden.
      if (value.ActionToUse) return `${Object.keys(value.ActionToUse)} ${value.Name}`;
      if (typeof value === 'string')
        return value.replaceAll(serviceName(stage), 'animal-store-<stage>');
      return value;
    }),
  );

/** Returns a line for each property of a value. It starts with the path of the property. */
const linesOf = (value: object): string[] =>
  Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined) return [];
    if (Array.isArray(inner) && typeof inner[0] === 'string') return `${name} ${inner.join(', ')}`;
    if (typeof inner !== 'object') return `${name} ${inner}`;
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

/** What the graphs of the dashboard draw, without their titles and labels. */
const graphs = (template: Template): Entry[] =>
  propertiesOf(template, 'AWS::CloudWatch::Dashboard').map(({ DashboardName, DashboardBody }) => {
    const { widgets }: { widgets: { properties: { metrics?: Metric[] } }[] } =
      JSON.parse(DashboardBody);
    const drawn = widgets.flatMap(({ properties: { metrics } }) => (metrics ? [metrics] : []));
    return [DashboardName, drawn.map((metrics) => listOf(metrics.map(textOf)))];
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
const section = (
  title: string,
  templates: ReadonlyMap<string, Template>,
  entriesOf: (template: Template) => readonly Entry[],
): string[] => {
  const stages = [...templates].map(([stage, template]) => ({ stage, of: entriesOf(template) }));
  const titles = stages.map(({ stage, of }): Entry => {
    return [stage, [`${title}: ${listOf(of.map(([name]) => name)) || 'none'}`]];
  });
  const lines = stages.map(({ stage, of }): Entry => [stage, merged(of)]);
  return [...merged(titles), ...merged(lines).map((line) => `  ${line}`)];
};

/**
 * Returns what an operator notices of stages, a property a line, without sentences. A resource that appears
 * or goes away shows too.
 */
export const deployedText = (stages: readonly Stage[]): string => {
  const templates = new Map(stages.map((stage) => [stage.name, readable(stage)]));
  return [
    ...Object.entries(shownTypes).flatMap(([type, without]) =>
      section(type, templates, (template) => resources(template, type, without)),
    ),
    ...section('Alarms', templates, alarms),
    ...section('Methods of the API', templates, methods),
    ...section('Rules of the firewall', templates, rules),
    ...section('Graphs', templates, graphs),
    ...section('Outputs', templates, outputs),
    '',
  ].join('\n');
};
