import { errors } from '../../../lib/contract/errors.ts';
import { maxBodyBytes, maxIdempotencyKeyLength } from '../../../lib/contract/limits.ts';
import { operations } from '../../../lib/contract/operations.ts';
import { maxNameLength } from '../../../lib/contract/pet.ts';
import { withCommas } from '../../../lib/contract/with-commas.ts';
import { maxHeaderBytes } from '../../local/gateway/request-limits.ts';
import { firewallWindowSec, prod } from '../../stages.ts';

const throttleOf = ({ name, method, path }: (typeof operations)[number]) => {
  const { ratePerSecond, burst } = prod.operationThrottles[name] ?? prod.throttle;
  return `| \`${method} ${path}\` | ${withCommas(ratePerSecond)} | ${withCommas(burst)} |`;
};

const windowMinutes = firewallWindowSec / 60;
const retryAfter = errors.tooManyRequests().headers['Retry-After'];

/** The limits of production that clients can reach, as Markdown. */
export const limitsText = (): string =>
  [
    'All clients together, in production:',
    '',
    '| operation | requests per second | burst |',
    '|---|---|---|',
    ...operations.map(throttleOf),
    '',
    ...(prod.firewall
      ? [
          `- Each address may send ${withCommas(prod.firewall.requestsPerAddress)} requests in ${windowMinutes} minutes, and each API key ${withCommas(prod.firewall.requestsPerApiKey)}.`,
        ]
      : []),
    '- Staging has lower limits.',
    `- A body has at most ${withCommas(maxBodyBytes)} bytes, and all headers together ${withCommas(maxHeaderBytes)}.`,
    `- A name has at most ${maxNameLength} characters (code points), and an \`Idempotency-Key\` ${maxIdempotencyKeyLength}.`,
    `- A 429 changed nothing. Wait as many seconds as \`Retry-After\` says: ${retryAfter} over a limit per second, ${firewallWindowSec} over one for ${windowMinutes} minutes.`,
  ].join('\n');
