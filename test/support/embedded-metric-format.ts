import * as z from 'zod/mini';

const bytes = ['Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes'];
const bits = ['Bits', 'Kilobits', 'Megabits', 'Gigabits', 'Terabits'];
const units = [
  ...['Seconds', 'Microseconds', 'Milliseconds', 'Percent', 'None'],
  ...[...bytes, ...bits, 'Count'].flatMap((unit) => [unit, `${unit}/Second`]),
];
const Text = z.string().check(z.minLength(1), z.maxLength(255));

/**
 * A line in CloudWatch's embedded metric format, by AWS's JSON schema. From the text around the schema: objects have no
 * other members, and there are at most 100 metrics, 100 values and 30 dimensions.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
const Line = z.catchall(
  z.object({
    _aws: z.strictObject({
      Timestamp: z.int(),
      CloudWatchMetrics: z.array(
        z.strictObject({
          Namespace: Text,
          Dimensions: z.array(z.array(Text).check(z.maxLength(30))).check(z.minLength(1)),
          Metrics: z
            .array(z.strictObject({ Name: Text, Unit: z.enum(units) }))
            .check(z.maxLength(100)),
        }),
      ),
    }),
  }),
  z.unknown(),
);
const Target = z.array(z.number()).check(z.minLength(1), z.maxLength(100));

/** Each directive of a line, every value as a list. Throws unless the line is in CloudWatch's embedded metric format. */
export const readMetrics = (line: unknown) => {
  const { _aws, ...members } = Line.parse(line);
  return _aws.CloudWatchMetrics.map(({ Namespace, Dimensions, Metrics }) => ({
    namespace: Namespace,
    dimensions: Dimensions.map((set) =>
      Object.fromEntries(set.map((name) => [name, z.string().parse(members[name])])),
    ),
    units: Object.fromEntries(Metrics.map(({ Name, Unit }) => [Name, Unit])),
    values: Object.fromEntries(
      Metrics.map(({ Name }) => [Name, Target.parse([members[Name]].flat())]),
    ),
  }));
};
