import {
  metricNames,
  probeMetricNames,
  versionMetricNames,
} from '../../lib/contract/metric-names.ts';
import { operations } from '../../lib/contract/operations.ts';

/** What one request of a kind uses on average. */
export interface RequestUsage {
  /** The file of its function, without its ending. */
  readonly handler: string;
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
 * Units: `ReturnConsumedCapacity` of DynamoDB Local, for pets whose names have 40 bytes. Lists are full pages of 20.
 */
export const requestKinds = {
  list: { share: 0.7, handler: 'list-pets', durationMs: 4, readUnits: 0.5, responseBytes: 2_200 },
  get: { share: 0.2, handler: 'get-pet', durationMs: 2, readUnits: 0.5, responseBytes: 800 },
  create: { share: 0.1, handler: 'create-pet', durationMs: 2, writeUnits: 2, responseBytes: 750 },
} satisfies Record<string, RequestUsage & { readonly share: number }>;

/** The probe runs once a minute. Its own usage, without its request to the API, is rounded up and unverified. */
export const probe = { perMonth: 730 * 60, handler: 'probe', durationMs: 300, responseBytes: 0 };

/** Each function reads the key in use once a minute. */
export const keyReadUnits = operations.length * 730 * 60 * 0.5;

const { requests, clientErrors, serverErrors, idempotentReplays, ...ofOperations } = metricNames;
const ofFunctions = [requests, clientErrors, serverErrors, ...Object.values(versionMetricNames)];

/**
 * Metrics that the functions (`unrouted` included) and the probe write. CloudWatch charges for the hours in which a metric
 * is written, so the overlap of two versions costs less than a cent: https://aws.amazon.com/cloudwatch/pricing/
 */
export const customMetrics =
  ofFunctions.length * (operations.length + 1) +
  Object.keys(ofOperations).length * operations.length +
  [idempotentReplays].length +
  Object.keys(probeMetricNames).length;

/**
 * Bytes of the log lines of a request, measured on 2026-11-22 and rounded up: the function's own 800, START, END and
 * REPORT of Lambda 400, access log 400; and of a probe.
 */
export const logBytes = { request: 1_600, probe: 1_000 };

/** Pets in the table. */
export const storedPets = 100_000;

/**
 * Bytes of a pet with a name of 40 bytes, in the table and in the index, with the 100 that DynamoDB adds to each item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const petBytes = { table: 270, index: 190 };

/** CloudWatch stores log lines compressed; AWS's calculator assumes this share of their size. */
export const logCompression = 0.15;

/** X-Ray's default rule traces the first request of a second and this part of the others. */
export const sampledShare = 0.05;
