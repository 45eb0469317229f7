import type { probeMetricName } from './metric-names.ts';

/** The line of a request, besides its metrics. Fields that are `undefined` are left out. */
export interface RequestLine {
  readonly level: 'INFO' | 'ERROR';
  readonly message: string;
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
  readonly timestamp: string;
  /** The code of the Error body that the client got. */
  readonly code?: string | undefined;
  readonly keyId?: string | undefined;
  /** The id that the client got as `x-amz-apigw-id`. */
  readonly extendedRequestId?: string | undefined;
  readonly lambdaRequestId: string;
  readonly coldStart: boolean;
  /** What became of V8's code cache, on a cold start. */
  readonly codeCache?: string | undefined;
  readonly nodeVersion?: string;
  readonly cause?: Cause | undefined;
  /** The ids of stored items that could not be read. */
  readonly corruptItems?: readonly string[] | undefined;
  readonly service: string;
  readonly version: string | undefined;
}

/** The original error of a 5xx. */
export interface Cause {
  readonly name: string;
  /** The message, if it is one of ours. */
  readonly message?: string | undefined;
  /** The code of an error of Node.js, such as `ECONNRESET`. */
  readonly code?: string | undefined;
  /** The status and the request id of an error of AWS. */
  readonly httpStatus?: number | undefined;
  readonly requestId?: string | undefined;
  /**
   * Where a defect was thrown in our own code, such as `lib/pets/pet-store.ts:71`, the outermost caller last.
   */
  readonly frames?: readonly string[] | undefined;
}

/** The line of the probe. */
export interface ProbeLine {
  readonly level: RequestLine['level'];
  readonly message: string;
  readonly failure: string | undefined;
  readonly service: string;
  readonly [probeMetricName]: number;
}

/** The line of the check of new versions, before they get traffic. */
export interface CheckLine {
  readonly level: RequestLine['level'];
  readonly message: string;
  readonly deploymentId: string;
  readonly failures: readonly string[];
}
