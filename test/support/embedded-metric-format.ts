import * as v from 'valibot';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(255));

/**
 * A line in CloudWatch's embedded metric format, by AWS's JSON schema, with the units that the service uses.
 * From the text around the schema: objects have no other members, and there are at most 100 metrics, 100
 * values and 30 dimensions. CloudWatch would drop a line whose timestamp is in seconds.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
const Line = v.looseObject({
  _aws: v.strictObject({
    Timestamp: v.pipe(v.number(), v.integer(), v.minValue(Date.UTC(2020, 0))),
    CloudWatchMetrics: v.array(
      v.strictObject({
        Namespace: Text,
        Dimensions: v.pipe(v.array(v.pipe(v.array(Text), v.maxLength(30))), v.minLength(1)),
        Metrics: v.pipe(
          v.array(v.strictObject({ Name: Text, Unit: v.picklist(['Count', 'Milliseconds']) })),
          v.maxLength(100),
        ),
      }),
    ),
  }),
});
const Target = v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(100));

/**
 * Each directive of a line, every value as a list. Throws unless the line is in
 * CloudWatch's embedded metric format.
 */
export const readMetrics = (line: unknown) => {
  const { _aws, ...members } = v.parse(Line, line);
  return _aws.CloudWatchMetrics.map(({ Namespace, Dimensions, Metrics }) => ({
    namespace: Namespace,
    dimensions: Dimensions.map((set) =>
      Object.fromEntries(set.map((name) => [name, v.parse(v.string(), members[name])])),
    ),
    units: Object.fromEntries(Metrics.map(({ Name, Unit }) => [Name, Unit])),
    values: Object.fromEntries(
      Metrics.map(({ Name }) => [Name, v.parse(Target, [members[Name]].flat())]),
    ),
  }));
};
