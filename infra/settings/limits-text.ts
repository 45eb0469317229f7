import { errors } from '../../lib/contract/errors.ts';
import {
  maxBodyBytes,
  maxHeaderBytes,
  maxIdempotencyKeyLength,
  withCommas,
} from '../../lib/contract/limits.ts';
import { componentSchemas } from '../../lib/openapi/schemas.ts';
import { operations } from '../../lib/operations/operations.ts';
import {
  firewallLimit,
  firewallWindowSec,
  isProduction,
  type Stage,
  stages,
  throttleOf,
} from './stages.ts';

/** Says a setting of production, and in brackets those of the other stages. */
const inStages = (ofStage: (stage: Stage) => string): string => {
  const production = stages.filter(isProduction).map(ofStage);
  const others = stages.filter((stage) => !isProduction(stage));
  return `${production.join(', ')} (${others.map((stage) => `${stage.name}: ${ofStage(stage)}`).join(', ')})`;
};

const throttleRows = operations.map(({ name, method, path }) => {
  const rate = inStages((stage) => withCommas(throttleOf(stage, name).ratePerSecond));
  const burst = inStages((stage) => withCommas(throttleOf(stage, name).burst));
  return `| \`${method} ${path}\` | ${rate} | ${burst} |`;
});

/** The maximum length of each text in a body, by its field. */
const textLimits = Object.values(componentSchemas)
  .flatMap((schema) => Object.entries((typeof schema === 'object' && schema.properties) || {}))
  .flatMap(([name, schema]) =>
    typeof schema === 'object' && schema.maxLength ? `\`${name}\` ${schema.maxLength}` : [],
  );

const windowMinutes = firewallWindowSec / 60;
const clientLimit = inStages((stage) => withCommas(firewallLimit(stage)));
const clientMean = inStages((stage) =>
  withCommas(Math.round(firewallLimit(stage) / firewallWindowSec)),
);
const retryAfter = errors.tooManyRequests().headers['Retry-After'];

/** The limits that clients can reach in production, and in brackets those of other stages, as Markdown. */
export const limitsText = (): string =>
  [
    'All clients together may send these numbers of requests in production. The numbers in brackets are those of the stages for tests.',
    '',
    '| operation | requests per second | requests at once |',
    '|---|---|---|',
    ...throttleRows,
    '',
    `- Each IP address, and each API key, may send ${clientLimit} requests in ${windowMinutes} minutes, on average ${clientMean} per second.`,
    `- A body may have at most ${withCommas(maxBodyBytes)} bytes, and all headers together at most ${withCommas(maxHeaderBytes)} bytes.`,
    `- Texts have a maximum length in characters (code points): ${[...new Set(textLimits)].join(', ')}. An \`Idempotency-Key\` may have at most ${maxIdempotencyKeyLength} visible ASCII characters.`,
    `- A request that gets a 429 changed nothing. \`Retry-After\` says how many seconds to wait: ${retryAfter} for a limit per second, and ${firewallWindowSec} for the limit of ${windowMinutes} minutes.`,
  ].join('\n');
