import { isDeepStrictEqual } from 'node:util';

interface Keyed {
  readonly KeySchema?: readonly { readonly AttributeName: string }[];
}

interface Index extends Keyed {
  readonly IndexName: string;
  readonly Projection: unknown;
}

interface Properties extends Keyed {
  readonly AttributeDefinitions?: readonly { readonly AttributeName: string }[];
  readonly GlobalSecondaryIndexes?: readonly Index[];
  readonly LocalSecondaryIndexes?: unknown;
  readonly TableName?: unknown;
  readonly DomainName?: unknown;
}

interface Resource {
  readonly Type: string;
  readonly Condition?: unknown;
  readonly Properties?: Properties;
}

/** A template of CloudFormation. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** The types of resources that hold stored data or the address of the API. */
const kept: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::DynamoDB::Table',
]);

/** Parts of a template by their names, each with what can't be changed in place. */
type Parts = ReadonlyMap<string, unknown>;

/** Returns the keys of a table or an index with their types. */
const keysOf = ({ KeySchema = [] }: Keyed, { AttributeDefinitions = [] }: Properties) =>
  KeySchema.map((key) => [
    key,
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === key.AttributeName),
  ]);

/**
 * Returns the tables, the API and the custom domains of a template. CloudFormation replaces one if any of
 * these properties changes: see "Update requires: Replacement" in
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-domainname.html
 */
const keptIn = ({ Resources }: Template): Parts => {
  const parts = new Map<string, unknown>();
  for (const [id, { Type, Condition, Properties = {} }] of Object.entries(Resources)) {
    if (!kept.has(Type)) continue;
    const { TableName, LocalSecondaryIndexes, DomainName } = Properties;
    const names = [Condition, TableName, LocalSecondaryIndexes, DomainName];
    parts.set(`${Type} ${id}`, [...names, keysOf(Properties, Properties)]);
  }
  return parts;
};

/** Returns the indexes of the tables of a template. */
const indexesIn = ({ Resources }: Template): Parts => {
  const parts = new Map<string, unknown>();
  for (const [id, { Properties = {} }] of Object.entries(Resources))
    for (const index of Properties.GlobalSecondaryIndexes ?? [])
      parts.set(`Index ${index.IndexName} of ${id}`, [index.Projection, keysOf(index, Properties)]);
  return parts;
};

/** Returns the names of the parts that others lack, or have otherwise. */
const missingIn = (others: Parts, parts: Parts): string[] =>
  Array.from(parts.keys()).filter((name) => !isDeepStrictEqual(parts.get(name), others.get(name)));

/**
 * Returns each index that needs a release of its own: a table takes one new index in an update, and a new
 * version that fails in the same release would delete the index with it, after hours of building it. A way
 * back adds none, because it would wait for these hours.
 * https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/229
 */
const indexesToAddAlone = (deployed: Template, next: Template, revert: boolean): string[] => {
  const former = indexesIn(deployed);
  const resources = Object.entries(next.Resources);
  const remaining = resources.filter(([id]) => id in deployed.Resources);
  const indexes = indexesIn({ Resources: Object.fromEntries(remaining) });
  const added = Array.from(indexes.keys()).filter((name) => !former.has(name));
  const hasNewVersion = resources.some(
    ([id, { Type }]) => Type === 'AWS::Lambda::Version' && !(id in deployed.Resources),
  );
  return added.length > (hasNewVersion || revert ? 0 : 1) ? added : [];
};

interface LossOptions {
  /** Whether an earlier commit is deployed. */
  readonly revert?: true;
  /** Whether the operator accepts what is lost. */
  readonly destructive?: true;
}

/**
 * Throws if the next template loses stored data, an index or the address of the API, unless the operator
 * accepts that, or if it adds an index that needs a release of its own.
 */
export const refuseLosses = (
  deployed: Template,
  next: Template,
  { revert, destructive }: LossOptions,
): void => {
  const problems = indexesToAddAlone(deployed, next, revert === true).map(
    (name) => `${name} needs a release of its own, before the code that uses it.`,
  );
  if (!destructive)
    for (const partsIn of [keptIn, indexesIn])
      for (const name of missingIn(partsIn(next), partsIn(deployed)))
        problems.push(`${name} would be removed or replaced.`);
  if (problems.length === 0) return;
  const advice = revert
    ? 'Correct the fault in a hotfix instead: see "Hotfix" in infra/releases.md.'
    : 'See "Tables and indexes" in infra/releases.md.';
  throw new AggregateError([...problems, `Nothing was deployed. ${advice}`]);
};
