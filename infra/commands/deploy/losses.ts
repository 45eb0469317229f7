import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';

const Index = v.looseObject({ IndexName: v.string() });
const Properties = v.looseObject({
  AttributeDefinitions: v.optional(v.array(v.looseObject({ AttributeName: v.string() })), []),
  GlobalSecondaryIndexes: v.optional(v.array(Index), []),
});
const Resource = v.looseObject({ Type: v.string(), Properties: v.optional(Properties, {}) });
const Definitions = v.optional(v.record(v.string(), v.unknown()), {});
const Template = v.pipe(
  v.string(),
  v.parseJson(undefined, 'it is not JSON'),
  v.object({
    Resources: v.record(v.string(), Resource),
    Conditions: Definitions,
    Mappings: Definitions,
    Parameters: Definitions,
  }),
);

/** A template of CloudFormation, with the parts that are compared. */
export type Template = v.InferOutput<typeof Template>;

/** Parses the text of a template. Throws if the CDK would not write it so, such as YAML. */
export const parseTemplate = (text: string): Template => {
  const { success, output, issues } = v.safeParse(Template, text);
  if (success) return output;
  const [issue] = issues;
  const path = v.getDotPath(issue);
  throw new Error(path ? `${path}: ${issue.message}` : issue.message);
};

/** The types of resources that hold stored data or the address of the API. */
const keptTypes: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::DynamoDB::Table',
]);

/**
 * The properties of these resources whose change makes CloudFormation replace them. Another type of an
 * attribute does, too: see "Update requires" in
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-restapi.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-domainname.html
 */
const fixedProperties = [
  'DomainName',
  'ImportSourceSpecification',
  'KeySchema',
  'LocalSecondaryIndexes',
  'TableName',
];

/** Parts of a template by their names, each with what makes it another part when it changes. */
type Parts = ReadonlyMap<string, unknown>;

/** A resource that holds stored data or the address of the API. */
interface Kept {
  readonly fixed: unknown;
  readonly attributes: Parts;
  readonly indexes: Parts;
}

/**
 * Returns a value with the definition of each name in it, because a reference means something else when its
 * definition changes. A word that only looks like a name can at most cause a refusal.
 */
const meaningOf = (value: unknown, template: Template): unknown[] => {
  const { Resources, Conditions, Mappings, Parameters } = template;
  const definitions = { ...Resources, ...Conditions, ...Mappings, ...Parameters };
  const meaning = new Set([value]);
  // The loop also visits what it adds.
  for (const each of meaning)
    for (const [word] of JSON.stringify(each).matchAll(/\w+/g))
      if (Object.hasOwn(definitions, word)) meaning.add(definitions[word]);
  return Array.from(meaning);
};

/** Returns the tables, the API and the custom domains of a template, by their names. */
const keptIn = (template: Template): ReadonlyMap<string, Kept> => {
  const found = new Map<string, Kept>();
  for (const [id, { Type, Condition, Properties }] of Object.entries(template.Resources)) {
    if (!keptTypes.has(Type)) continue;
    const name = `${Type} ${id}`;
    const attributes = new Map<string, unknown>();
    for (const attribute of Properties.AttributeDefinitions)
      attributes.set(attribute.AttributeName, meaningOf(attribute, template));
    const indexes = new Map<string, unknown>();
    for (const { IndexName, KeySchema, Projection } of Properties.GlobalSecondaryIndexes)
      indexes.set(`Index ${IndexName} of ${name}`, meaningOf([KeySchema, Projection], template));
    const fixed = [Condition, ...fixedProperties.map((each) => Properties[each])];
    found.set(name, { fixed: meaningOf(fixed, template), attributes, indexes });
  }
  return found;
};

/** Returns the names of the parts that others lack, or have otherwise. */
const missingIn = (others: Parts, parts: Parts): string[] =>
  Array.from(parts.keys()).filter((name) => !isDeepStrictEqual(parts.get(name), others.get(name)));

const isReplaced = (former: Kept, next: Kept): boolean =>
  !isDeepStrictEqual(former.fixed, next.fixed) ||
  missingIn(next.attributes, former.attributes).some((name) => next.attributes.has(name));

/** Returns what CloudFormation would remove or replace. */
const lossesIn = (deployed: Template, next: Template): string[] => {
  const remaining = keptIn(next);
  return Array.from(keptIn(deployed)).flatMap(([name, former]) => {
    const kept = remaining.get(name);
    return !kept || isReplaced(former, kept) ? name : missingIn(kept.indexes, former.indexes);
  });
};

/**
 * Returns each index that needs a release of its own: a table takes one new index in an update, and a new
 * version that fails in the same release would delete the index with it, after hours of building it. A way
 * back adds none, because it would wait for these hours.
 * https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/229
 */
const indexesToAddAlone = (deployed: Template, next: Template, revert: boolean): string[] => {
  const former = keptIn(deployed);
  const added = Array.from(keptIn(next)).flatMap(([name, { indexes }]) => {
    const kept = former.get(name);
    // A new table has its indexes from the start.
    return kept ? missingIn(kept.indexes, indexes) : [];
  });
  const hasNewVersion = Object.entries(next.Resources).some(
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
    for (const name of lossesIn(deployed, next))
      problems.push(`${name} would be removed or replaced.`);
  if (problems.length === 0) return;
  const advice = revert
    ? 'Correct the fault in a hotfix instead: see "Hotfix" in infra/releases.md.'
    : 'See "Tables and indexes" in infra/releases.md.';
  throw new AggregateError([...problems, `Nothing was deployed. ${advice}`]);
};
