import { Template } from 'aws-cdk-lib/assertions';
import { functionNames } from '../../infra/settings/names.ts';
import { alarmsOf } from './alarms.ts';
import { propertiesOf } from './templates.ts';

/**
 * The types of resources that the text shows, each with the properties that it leaves out: sentences, what connects
 * resources, and what a test of its own is about.
 */
const shownTypes = {
  'AWS::ApiGateway::GatewayResponse': ['ResponseTemplates', 'ResponseType'],
  'AWS::ApiGateway::RestApi': ['Name'],
  'AWS::ApiGateway::Stage': ['AccessLogSetting', 'DeploymentId', 'MethodSettings'],
  'AWS::CodeDeploy::DeploymentConfig': ['ComputePlatform'],
  'AWS::CodeDeploy::DeploymentGroup': ['ApplicationName', 'DeploymentStyle', 'ServiceRoleArn'],
  'AWS::DynamoDB::Table': ['AttributeDefinitions'],
  'AWS::Events::Rule': ['Targets'],
  'AWS::Lambda::Function': ['Code', 'Environment', 'Handler', 'LoggingConfig', 'Role'],
  'AWS::Logs::LogGroup': [],
  'AWS::WAFv2::WebACL': ['CustomResponseBodies', 'DataProtectionConfig', 'Name', 'Rules', 'Scope'],
  'AWS::WAFv2::WebACLAssociation': ['ResourceArn'],
};

/** The properties that the text leaves out in every place. */
const leftOut = ['KeySchema', 'Priority', 'RestApiId', 'Tags', 'VisibilityConfig'];

/** The names of functions, as operations and logical ids have them. */
const functionName = new RegExp(
  functionNames.map((name) => `\\b${name}\\b|${name.toLowerCase()}(?=Function|Log|\\b)`).join('|'),
  'g',
);

/** A logical id without the hash at its end, which changes with the contents of the resource. */
const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}([0-9a-f]{32})?$/, '');

/**
 * Returns a template with a logical id in place of a reference, and with `<function>` in place of the name of a
 * function, so that functions which differ only by their names have the same properties.
 */
const readable = (template: Template) =>
  Template.fromJSON(
    JSON.parse(JSON.stringify(template.toJSON()), (name, value) => {
      if (leftOut.includes(name)) return undefined;
      if (typeof value === 'string') return value.replace(functionName, '<function>');
      if (value.Ref) return withoutHash(value.Ref).replace(functionName, '<function>');
      if (value['Fn::GetAtt']) return value['Fn::GetAtt'].map(withoutHash).join('.');
      if (value['Fn::Join']) return value['Fn::Join'][1].join('');
      // A rule of a managed group whose action is overridden.
      if (value.ActionToUse) return `${Object.keys(value.ActionToUse)} ${value.Name}`;
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

const resources = (template: Template, type: string, without: readonly string[]): Entry[] =>
  Object.entries(template.findResources(type)).map(([id, { Properties, DeletionPolicy }]) => {
    const shown = Object.entries(Properties).filter(([name]) => !without.includes(name));
    return [withoutHash(id), linesOf({ ...Object.fromEntries(shown), DeletionPolicy })];
  });

const alarms = (template: Template): Entry[] =>
  [...alarmsOf(template)].map(([id, { condition, metrics, ActionsEnabled }]) => {
    const measured = metrics.map(({ id, Stat, Namespace, MetricName, Dimensions }) => {
      // The CDK numbers the metrics of a sum.
      const name = /^m\d*$/.test(id) ? '' : `${id}: `;
      return `${name}${Stat} of ${Namespace} ${MetricName} (${linesOf(Dimensions).join(', ')})`;
    });
    const lines = [`Goes off if ${condition}`, ...measured, ...linesOf({ ActionsEnabled })];
    return [withoutHash(id), lines];
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
    // A rule that applies a managed group has its name.
    .map(({ Name, ...rule }) => [
      Name,
      linesOf(rule).filter((line) => !line.endsWith(`.Name ${Name}`)),
    ]);

/** Returns names in one line, with `<function>` where all functions of the API are meant. */
const listOf = (names: readonly string[]) =>
  [...Map.groupBy(names, (name) => name.replace(functionName, '<function>'))]
    .flatMap(([name, same]) => (same.length === functionNames.length ? name : same))
    .sort()
    .join(', ');

/** Shows each line once: those that all entries have, and then the others, after the names of their entries. */
const section = (title: string, entries: readonly Entry[]): string[] => {
  const ofAll: string[] = [];
  const ofSome: string[] = [];
  for (const line of new Set(entries.flatMap(([, lines]) => lines))) {
    const having = entries.filter(([, lines]) => lines.includes(line)).map(([name]) => name);
    if (having.length === entries.length) ofAll.push(`  ${line}`);
    else ofSome.push(`  ${listOf(having)}: ${line}`);
  }
  const all = listOf(entries.map(([name]) => name));
  return [`${title}: ${all || 'none'}`, ...ofAll.sort(), ...ofSome.sort()];
};

/**
 * Returns what an operator notices of a stage, a property a line, without sentences. A resource that appears or
 * goes away shows too.
 */
export const deployedText = (deployed: Template): string => {
  const template = readable(deployed);
  return [
    ...Object.entries(shownTypes).flatMap(([type, without]) =>
      section(type, resources(template, type, without)),
    ),
    ...section('Alarms', alarms(template)),
    ...section('Methods of the API', methods(template)),
    ...section('Rules of the firewall', rules(template)),
    '',
  ].join('\n');
};
