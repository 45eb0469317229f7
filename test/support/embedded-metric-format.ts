import { Ajv } from 'ajv';
import { expect } from 'vitest';
import * as z from 'zod/mini';

const bytes = ['Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes'];
const bits = ['Bits', 'Kilobits', 'Megabits', 'Gigabits', 'Terabits'];
const units = [
  ...['Seconds', 'Microseconds', 'Milliseconds', 'Percent', 'None'],
  ...[...bytes, ...bits, 'Count'].flatMap((unit) => [unit, `${unit}/Second`]),
];
const text = { type: 'string', minLength: 1, maxLength: 255 };
const array = (items: object, limits = {}) => ({ type: 'array', items, ...limits });
/** An object with these members only. */
const object = (required: readonly string[], properties: object) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});

const metric = object(['Name'], {
  Name: text,
  Unit: { type: 'string', enum: units },
  StorageResolution: { enum: [1, 60] },
});
const directive = object(['Namespace', 'Dimensions', 'Metrics'], {
  Namespace: text,
  Dimensions: array(array(text, { maxItems: 30 }), { minItems: 1 }),
  Metrics: array(metric, { maxItems: 100 }),
});

/**
 * The rules of the JSON schema that AWS publishes for the format, without its titles, ids and examples; and from the text around it,
 * that objects have no other members, at most 100 metrics and at most 30 dimensions.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
const schema = {
  type: 'object',
  required: ['_aws'],
  properties: {
    _aws: object(['Timestamp', 'CloudWatchMetrics'], {
      Timestamp: { type: 'integer' },
      CloudWatchMetrics: array(directive),
    }),
  },
};

const validate = new Ajv().compile(schema);

/** What the text of the specification asks of the members that `_aws` names. */
const TargetMembers = z.catchall(
  z.object({
    _aws: z.object({
      CloudWatchMetrics: z.tuple([
        z.object({
          Namespace: z.string(),
          Dimensions: z.array(z.array(z.string())),
          Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
        }),
      ]),
    }),
  }),
  z.unknown(),
);
const DimensionTarget = z.string();
const MetricTarget = z.array(z.number()).check(z.minLength(1), z.maxLength(100));

/** Holds a line to CloudWatch's embedded metric format, and reads its metrics; every value as a list. */
export const readMetrics = (line: unknown) => {
  validate(line);
  expect(validate.errors).toBeNull();
  const { _aws, ...members } = TargetMembers.parse(line);
  const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
  return {
    namespace: Namespace,
    dimensions: Dimensions.map((set) =>
      Object.fromEntries(set.map((name) => [name, DimensionTarget.parse(members[name])])),
    ),
    units: Object.fromEntries(Metrics.map(({ Name, Unit }) => [Name, Unit])),
    values: Object.fromEntries(
      Metrics.map(({ Name }) => [Name, MetricTarget.parse([members[Name]].flat())]),
    ),
  };
};
