import { errors } from '../../../lib/contract/errors.ts';
import { maxBodyBytes, maxIdempotencyKeyLength } from '../../../lib/contract/limits.ts';
import { operations } from '../../../lib/contract/operations.ts';
import { maxNameLength } from '../../../lib/contract/pet.ts';
import { withCommas } from '../../../lib/contract/with-commas.ts';
import { maxHeaderBytes } from '../../local/gateway/request-limits.ts';
import { firewallWindowSec, prod, type Stage, staging } from '../../stages.ts';

const inStages = (ofStage: (stage: Stage) => number) =>
  `${withCommas(ofStage(prod))} (${withCommas(ofStage(staging))})`;

const throttleOf = ({ name, method, path }: (typeof operations)[number]) => {
  const throttle = (stage: Stage) => stage.operationThrottles[name] ?? stage.throttle;
  const rate = inStages((stage) => throttle(stage).ratePerSecond);
  return `| \`${method} ${path}\` | ${rate} | ${inStages((stage) => throttle(stage).burst)} |`;
};

const windowMinutes = firewallWindowSec / 60;
const firewallLimit = (limit: 'requestsPerAddress' | 'requestsPerApiKey') => {
  const limitOf = ({ firewall }: Stage) => firewall?.[limit] ?? Number.POSITIVE_INFINITY;
  const mean = inStages((stage) => limitOf(stage) / firewallWindowSec);
  return `${inStages(limitOf)} requests in ${windowMinutes} minutes, on average ${mean} per second`;
};
const retryAfter = errors.tooManyRequests().headers['Retry-After'];

/** The limits that clients can reach in production, and in brackets those of staging, as Markdown. */
export const limitsText = (): string =>
  [
    'All clients together, in production (in staging):',
    '',
    '| operation | requests per second | requests at once |',
    '|---|---|---|',
    ...operations.map(throttleOf),
    '',
    `- Each IP address may send ${firewallLimit('requestsPerAddress')}.`,
    `- Each API key may send ${firewallLimit('requestsPerApiKey')}.`,
    `- A body has at most ${withCommas(maxBodyBytes)} bytes, and all headers together ${withCommas(maxHeaderBytes)}.`,
    `- A name has at most ${maxNameLength} characters (code points), and an \`Idempotency-Key\` ${maxIdempotencyKeyLength} visible ASCII characters.`,
    `- A 429 changed nothing. Wait as many seconds as \`Retry-After\` says: ${retryAfter} over a limit per second, ${firewallWindowSec} over one for ${windowMinutes} minutes.`,
  ].join('\n');
