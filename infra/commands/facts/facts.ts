import { operations } from '../../../lib/contract/operations.ts';
import { type DynamodbCall, operationDetails } from '../../settings/operations.ts';
import { awsRecordText } from './aws-record.ts';
import { inStages, limitsText } from './limits-text.ts';

/** The documents with facts, relative to the project's folder. */
export const documentsWithFacts: readonly string[] = [
  'README.md',
  'infra/README.md',
  'lib/openapi/guides/introduction.md',
  'lib/openapi/guides/limits.md',
  'test/README.md',
];

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const operationRows = operations.map(({ name, method, path, deprecation }) => {
  const removal = deprecation
    ? `; deprecated, to be removed on ${dateFormat.format(deprecation.sunset)}`
    : '';
  return `| \`${name}\` | \`${method} ${path}\` | ${operationDetails[name].summary}${removal} |`;
});

const operationLinks = operations.map(({ name, method, path, deprecation }) => {
  const { summary } = operationDetails[name];
  const purpose = summary.charAt(0).toLowerCase() + summary.slice(1);
  const request = `[\`${method} ${path}\`](#tag/pets/${method}${path})`;
  return `- ${request}: ${purpose}${deprecation ? ' (deprecated)' : ''}`;
});

/**
 * The price of a million units in eu-west-1, in dollars.
 * https://aws.amazon.com/dynamodb/pricing/on-demand/
 */
const prices = { RCU: 0.1415, WCU: 0.705 };

const unitOf = ({ action }: DynamodbCall) => (action === 'PutItem' ? 'WCU' : 'RCU');

const capacityRows = operations.map(({ name }) => {
  const { dynamodbCalls } = operationDetails[name];
  const capacity = dynamodbCalls.map((call) => `${call.units} ${unitOf(call)}`).join(' and ');
  const price = dynamodbCalls.reduce((sum, call) => sum + call.units * prices[unitOf(call)], 0);
  return `| \`${name}\` | ${capacity} | $${price.toFixed(2)} |`;
});

const count = (number = 0, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

/** The facts that documents state, by name, as Markdown. They follow from the definitions. */
const facts: Readonly<Record<string, string>> = {
  operations: ['', '| operation | request | purpose |', '|---|---|---|', ...operationRows, ''].join(
    '\n',
  ),
  'operation links': `\n${operationLinks.join('\n')}\n`,
  capacity: [
    '',
    `A million RCU cost $${prices.RCU}, a million WCU $${prices.WCU}. The example of each operation costs:`,
    '',
    '| operation | capacity | per million |',
    '|---|---|---|',
    ...capacityRows,
    '',
  ].join('\n'),
  'canary minutes': inStages(({ canaryMinutes }) => count(canaryMinutes, 'minute')),
  'record of AWS': `\n${awsRecordText()}\n`,
  limits: `\n${limitsText()}\n`,
  'days of recovery': inStages(({ pointInTimeRecoveryDays }) =>
    count(pointInTimeRecoveryDays, 'day'),
  ),
};

/** A fact between its markers: `<!-- fact: <name> -->…<!-- end -->`. */
const marked = /(<!-- fact: ([\w -]+?) -->).*?(<!-- end -->)/gs;

/** Replaces each marked fact of a document by the present one. Throws for a fact that there is not. */
export const withFacts = (text: string): string =>
  text.replace(marked, (_all, start: string, name: string, end: string) => {
    const fact = facts[name];
    if (fact === undefined)
      throw new Error(`There is no fact ${name} in infra/commands/facts/facts.ts`);
    return `${start}${fact}${end}`;
  });

/** The names of the facts that a document states. */
export const factsIn = (text: string): string[] =>
  [...text.matchAll(marked)].map(([, , name = '']) => name);

export const factNames: readonly string[] = Object.keys(facts);
