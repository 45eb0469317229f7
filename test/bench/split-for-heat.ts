/** Writes that DynamoDB takes in a second, at a point of time. */
export interface Throughput {
  /** How often the hot partitions have been split by then. */
  readonly splits: number;
  readonly partitions: number;
  readonly writesPerSecond: number;
}

/** WCU that one partition gives. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
const partitionCapacity = 1_000;
const writesPerStep = 20_000;

/**
 * Simulates how DynamoDB splits for heat the one item collection of an index, under more writes than it can take: each
 * partition that throttles is cut in two at the median of the sort keys that it was sent. `sortKey` gives the key of the
 * n-th write.
 */
export const simulateSplits = (
  sortKey: (write: number) => number,
  steps: number,
): readonly Throughput[] => {
  /** The first sort key of each partition, in order. */
  let partitions = [Number.NEGATIVE_INFINITY];
  return Array.from({ length: steps }, (_, splits) => {
    const writes = Array.from({ length: writesPerStep }, (_write, index) =>
      sortKey(splits * writesPerStep + index),
    );
    const sent = partitions.map((from, index) => {
      const to = partitions[index + 1] ?? Number.POSITIVE_INFINITY;
      return writes.filter((key) => key >= from && key < to).sort((left, right) => left - right);
    });
    const taken = sent.map((keys) => Math.min(keys.length, partitionCapacity));
    const throughput = {
      splits,
      partitions: partitions.length,
      writesPerSecond: taken.reduce((sum, count) => sum + count, 0),
    };
    const cuts = sent
      .filter((keys) => keys.length > partitionCapacity)
      .flatMap((keys) => keys[Math.floor(keys.length / 2)] ?? []);
    partitions = [...partitions, ...cuts].sort((left, right) => left - right);
    return throughput;
  });
};

/** Sort keys as the service makes them: evenly spread, whatever came before. */
export const spreadKey = (write: number): number => (write * 0.618_033_988_749_895) % 1;

/** Sort keys such as a counter or a time makes them. */
export const risingKey = (write: number): number => write;
