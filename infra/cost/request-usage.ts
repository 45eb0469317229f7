import {
  metricNames,
  probeMetricNames,
  versionMetricNames,
} from '../../lib/contract/metric-names.ts';
import { operations } from '../../lib/contract/operations.ts';

/** What one request of a kind uses on average. */
export interface RequestUsage {
  /** The function that handles it. */
  readonly functionName: string;
  /** Billed duration, in ms. */
  readonly durationMs: number;
  /** Request units of the pets table, without the look-up of the API key; none by default. */
  readonly readUnits?: number;
  readonly writeUnits?: number;
  /** Bytes of the response with its headers. */
  readonly responseBytes: number;
}

/**
 * Durations and responses: measured by the client on 2026-11-21 with `npm run load -- --requests 3000 --connections 1
 * --only <kind>` on two shared x86 cores, one cold start included; rounded up, with 300 bytes for API Gateway's headers.
 * Durations of deployed functions are in the `REPORT` lines of their logs.
 * Units: `ReturnConsumedCapacity` of DynamoDB Local, for pets whose names have 40 bytes.
 */
export const requestKinds = {
  /** A full page of 20. */
  list: { functionName: 'list-pets', durationMs: 4, readUnits: 0.5, responseBytes: 2_200 },
  list100: { functionName: 'list-pets', durationMs: 5, readUnits: 1.5, responseBytes: 8_000 },
  get: { functionName: 'get-pet', durationMs: 2, readUnits: 0.5, responseBytes: 800 },
  /** One unit for the table, one for its index. */
  create: { functionName: 'create-pet', durationMs: 2, writeUnits: 2, responseBytes: 750 },
} satisfies Record<string, RequestUsage>;

/** A function reads a key in use once in 60 s. */
export const keyLookup = { readUnits: 0.5, everySeconds: 60 };

/** The probe runs once a minute. Its own usage, without its request to the API, is rounded up and unverified. */
export const probe = { perMonth: 730 * 60, durationMs: 300, memoryMiB: 256, logBytes: 1_000 };

const { requests, clientErrors, serverErrors, idempotentReplays, ...ofOperations } = metricNames;
const ofFunctions = [requests, clientErrors, serverErrors, ...Object.values(versionMetricNames)];

/**
 * Metrics that the functions (`unrouted` included) and the probe write. CloudWatch charges for the hours in which a metric
 * is written, so the metrics of two versions overlap for less than a cent: https://aws.amazon.com/cloudwatch/pricing/
 */
export const customMetrics =
  ofFunctions.length * (operations.length + 1) +
  Object.keys(ofOperations).length * operations.length +
  [idempotentReplays].length +
  Object.keys(probeMetricNames).length;

/** Bytes of the log lines of a request: measured on 2026-11-22, rounded up. Lambda's own are START, END and REPORT. */
export const logBytes = { request: 800, lambda: 400, access: 400 };

/**
 * Bytes of a pet whose name has 40, in the table and in the index, with the 100 that DynamoDB adds to each item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const petBytes = { table: 270, index: 190 };

/** CloudWatch stores log lines compressed; AWS's calculator assumes this part of their size. */
export const logCompression = 0.15;

/** X-Ray's default rule traces the first request of a second and this part of the others. */
export const sampledShare = 0.05;
