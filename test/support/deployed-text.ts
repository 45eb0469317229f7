import type { Template } from 'aws-cdk-lib/assertions';
import { functionNames } from '../../infra/settings/names.ts';
import { propertiesOf } from './templates.ts';

/**
 * The types of resources that the text shows, each with the properties that it leaves out: sentences, what only
 * gives a name, and what a test of its own is about.
 */
const shownTypes: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGateway::GatewayResponse': [
    'ResponseTemplates',
    'ResponseType',
    'RestApiId',
    'StatusCode',
  ],
  'AWS::ApiGateway::RestApi': ['Name'],
  'AWS::ApiGateway::Stage': ['AccessLogSetting', 'DeploymentId', 'MethodSettings', 'RestApiId'],
  'AWS::CloudWatch::Alarm': ['AlarmActions', 'AlarmDescription', 'AlarmName', 'OKActions'],
  'AWS::CodeDeploy::DeploymentConfig': ['ComputePlatform'],
  'AWS::CodeDeploy::DeploymentGroup': ['ApplicationName', 'DeploymentStyle', 'ServiceRoleArn'],
  'AWS::DynamoDB::Table': ['AttributeDefinitions', 'KeySchema'],
  'AWS::Events::Rule': ['Targets'],
  'AWS::Lambda::Function': ['Code', 'Environment', 'Handler', 'LoggingConfig', 'Role'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::WAFv2::WebACL': ['CustomResponseBodies', 'DataProtectionConfig', 'Name', 'Rules', 'Scope'],
  'AWS::WAFv2::WebACLAssociation': ['ResourceArn'],
};

/** Properties that the text leaves out in every place. */
const leftOut = ['Label', 'Priority', 'ReturnData', 'Tags', 'VendorName', 'VisibilityConfig'];

type Properties = Readonly<Record<string, unknown>>;

/** What the text shows under one name, such as a resource: a line for each property. */
interface Entry {
  readonly name: string;
  readonly lines: readonly string[];
}

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null;

const without = (value: Properties, names: readonly string[]): Properties =>
  Object.fromEntries(
    Object.entries(value).filter(([name, each]) => !names.includes(name) && each !== undefined),
  );

/** A logical id without the hash at its end, which changes with the contents of the resource. */
const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}([0-9a-f]{32})?$/, '');

/** The names of functions, as operations and logical ids have them. */
const functionName = new RegExp(
  functionNames.map((name) => `\\b${name}\\b|${name.toLowerCase()}(?=Function|\\b)`).join('|'),
  'g',
);

const isReference = (value: unknown) =>
  isObject(value) && /^(?:Ref|Fn::.*)$/.test(Object.keys(value).join());

/** Returns a value in one line, with the logical id of a resource in place of each reference. */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  // Functions that differ only by their names have the same lines.
  if (!isObject(value)) return `${value}`.replace(functionName, '<function>');
  const [[name, inner] = []] = Object.entries(value);
  if (name === 'Ref') return textOf(withoutHash(`${inner}`));
  if (name === 'Fn::GetAtt' && Array.isArray(inner))
    return textOf(inner.map(withoutHash).join('.'));
  if (name === 'Fn::Join' && Array.isArray(inner)) return inner[1].map(textOf).join(inner[0]);
  if ('Name' in value && 'Value' in value) return `${value['Name']}=${textOf(value['Value'])}`;
  return (
    Object.entries(without(value, leftOut))
      .map(([key, each]) =>
        isObject(each) ? `${key} (${textOf(each)})` : `${key} ${textOf(each)}`,
      )
      .join(' ')
      // CDK gives the metrics that an alarm adds up these ids.
      .replace(/^Id m\d+ /, '')
  );
};

/** Returns a line for each property of an object, and for each object in a list. It starts with the path. */
const linesOf = (value: unknown, path = ''): string[] => {
  const isList = Array.isArray(value) && value.some((each) => isObject(each) && !('Value' in each));
  if (isList) return [...new Set(value.map((member) => `${path} ${textOf(member)}`))].sort();
  if (!isObject(value) || Array.isArray(value) || isReference(value))
    return textOf(value) === '' ? [] : [`${path} ${textOf(value)}`];
  const properties = Object.entries(without(value, leftOut));
  if (properties.length === 0) return [path];
  return properties.flatMap(([name, inner]) => linesOf(inner, path ? `${path}.${name}` : name));
};

const pathOf = (line: string) => line.split(' ', 1)[0] ?? '';

/** The lines whose property has no other line, as a list of objects has. */
const singleLines = (lines: readonly string[]) => {
  const paths = lines.map(pathOf);
  return lines.filter((line) => paths.filter((path) => path === pathOf(line)).length === 1);
};

/**
 * Shows entries, those with the same lines as one. What most of these have stands above them, and the others
 * show what they have instead.
 */
const section = (title: string, entries: readonly Entry[]): string[] => {
  const groups = [...Map.groupBy(entries, ({ lines }) => lines.join('\n')).values()];
  const all = groups.flatMap(([first]) => singleLines(first?.lines ?? []));
  const usual = [...new Set(all)].filter(
    (line) => groups.length > 1 && all.filter((each) => each === line).length > groups.length / 2,
  );
  const shown = groups.map((same) => {
    const names = same.map(({ name }) => name).sort();
    const lines = same[0]?.lines ?? [];
    const paths = lines.map(pathOf);
    const absent = usual.map(pathOf).filter((path) => !paths.includes(path));
    const own = [
      ...lines.filter((line) => !usual.includes(line) || !singleLines(lines).includes(line)),
      ...absent.map((path) => `${path} is not set`),
    ];
    return [`  ${names.join(', ')}`, ...own.sort()].join(own.length === 1 ? ': ' : '\n    ');
  });
  return [title, ...usual.sort().map((line) => `  usually: ${line}`), ...shown.sort()];
};

/**
 * Returns what an operator notices of a stage, a property a line, without sentences. A resource that appears or
 * goes away shows too.
 */
export const deployedText = (template: Template): string => {
  const resources = Object.entries(shownTypes).flatMap(([type, left]) => {
    const found = Object.entries(template.findResources(type));
    const entries = found.map(([id, { Properties = {}, DeletionPolicy }]) => ({
      name: withoutHash(id),
      lines: linesOf({ ...without(Properties, left), DeletionPolicy }),
    }));
    return section(type, entries);
  });
  const methods = propertiesOf(template, 'AWS::ApiGateway::Stage')
    .flatMap(({ MethodSettings }) => MethodSettings)
    .map(({ HttpMethod, ResourcePath, ...settings }) => ({
      name: `${HttpMethod} ${ResourcePath.replace('/~1', '~1').replaceAll('~1', '/')}`,
      lines: linesOf(settings),
    }));
  const rules = propertiesOf(template, 'AWS::WAFv2::WebACL')
    .flatMap(({ Rules }) => Rules)
    .map(({ Name, ...rule }) => ({ name: Name, lines: linesOf(rule) }));
  return [
    ...resources,
    ...section('Methods of the API', methods),
    ...section('Rules of the firewall', rules),
    '',
  ].join('\n');
};
