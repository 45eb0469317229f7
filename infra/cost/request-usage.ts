import { operations } from '../../lib/contract/operations.ts';

/** What one request of a kind takes on average. */
export interface RequestUsage {
  /** The function that answers it. */
  readonly functionName: string;
  /** Billed duration, in ms. */
  readonly durationMs: number;
  /** DynamoDB's request units for pets, without the look-up of the API key; none by default. */
  readonly readUnits?: number;
  readonly writeUnits?: number;
  /** Bytes of the response with its headers. */
  readonly responseBytes: number;
}

/**
 * Durations and responses: measured on 2026-11-21 with `npm run load -- --requests 3000 --connections 1 --only <kind>` on
 * two shared x86 cores, as the client sees them, one cold start included; rounded up, and 300 bytes added for the headers
 * that API Gateway adds. Deployed functions tell theirs in the `REPORT` lines of their logs.
 * Units: measured with `ReturnConsumedCapacity` of DynamoDB Local, for pets whose names have 40 bytes.
 */
export const requestKinds = {
  /** A full page of 20. */
  list: { functionName: 'list-pets', durationMs: 4, readUnits: 0.5, responseBytes: 2_200 },
  list100: { functionName: 'list-pets', durationMs: 5, readUnits: 1.5, responseBytes: 8_000 },
  get: { functionName: 'get-pet', durationMs: 2, readUnits: 0.5, responseBytes: 800 },
  /** One unit for the table, one for its index. */
  create: { functionName: 'create-pet', durationMs: 2, writeUnits: 2, responseBytes: 750 },
} satisfies Record<string, RequestUsage>;

/** Read units for the look-up of an API key: a function asks for a key in use once in 60 s. */
export const keyLookup = { readUnits: 0.5, everySeconds: 60 };

/** The probe, once a minute: what it takes itself, rounded up and unverified, beside its request to the API. */
export const probe = { perMonth: 730 * 60, durationMs: 300, memoryMiB: 256, logBytes: 1_000 };

/**
 * Metrics that the functions and the probe write. Each function: requests, client errors and server errors, and requests,
 * server errors and latency of its version. Each operation: refused keys, throttles and DynamoDB's latency; createPet:
 * replays. Each counts for the hours in which it is written, so those of an old version end with it, and those of a new
 * one cost twice for the hour of its deployment: less than a cent. https://aws.amazon.com/cloudwatch/pricing/
 */
export const customMetrics = 6 * (operations.length + 1) + 3 * operations.length + 1 + 2;

/**
 * Bytes of the log lines of a request: measured on 2026-11-22, rounded up. Lambda's own are START, END and REPORT.
 */
export const logBytes = { request: 800, lambda: 400, access: 400 };

/**
 * Bytes of a pet whose name has 40, in the table and in the index, with the 100 that DynamoDB adds to each item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const petBytes = { table: 270, index: 190 };

/** CloudWatch keeps log lines compressed; its own calculator takes them for this part of their size. */
export const logCompression = 0.15;

/** X-Ray's default rule traces the first request of a second and this part of the others. */
export const sampledShare = 0.05;
