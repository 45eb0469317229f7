/**
 * The limits from which on the alarms go off, under the names of the alarms. The description of each alarm
 * states them. What the alarms measure is in `infra/constructs/alarms.ts`.
 */
export const alarmLimits = {
  // What 5 minutes must have. A single failure at night, half of the requests, must not wake anyone.
  'server-errors': { requests: 5, percent: 1, minutes: 5 },
  'function-crashes': { crashes: 3 },
  'function-throttles': { requests: 5 },
  'auth-failures': { requests: 100 },
  'firewall-blocks': { requests: 300 },

  // What each of several minutes must have, see `badMinutes`. When there are few requests, the slowest 1 % is
  // a single request, such as a cold start at night.
  latency: { requests: 20, ms: 1_000 },
  'table-throttles': { calls: 5 },
  'index-throttles': { calls: 5 },

  // Those that roll a new version back. With little traffic, a single failure is a large share, but says
  // nothing about the version.
  'canary-server-errors': { requests: 3, percent: 0.5, minutes: 10 },
  // Nobody has measured the functions on AWS, and a guess must not undo a release, so the limit is far above
  // any expected latency. The first minute contains the cold starts, and the last two may be incomplete. So a
  // slow version is rolled back after 6 minutes at most, while it has 10.
  'canary-latency': { requests: 5, ms: 1_000, badMinutes: 4, minutes: 6 },
} as const;

/** How many of the newest minutes must be bad where a single bad minute is no reason to wake anyone. */
export const badMinutes = { atLeast: 3, of: 5 } as const;
