import { operations } from '../../../lib/contract/operations.ts';
import { operationDetails } from '../../operations.ts';
import { prod, staging } from '../../stages.ts';
import { limitsText } from './limits-text.ts';

/** The documents with facts, relative to the project's folder. */
export const documentsWithFacts: readonly string[] = [
  'README.md',
  'infra/README.md',
  'lib/openapi/guides/limits.md',
];

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const operationRows = operations.map(({ name, method, path, deprecation }) => {
  const removal = deprecation
    ? `; deprecated, to be removed on ${dateFormat.format(deprecation.sunset)}`
    : '';
  return `| \`${name}\` | \`${method} ${path}\` | ${operationDetails[name].summary}${removal} |`;
});

const inStages = (unit: string, ofStage: (stage: typeof prod) => number | undefined): string =>
  `${count(ofStage(prod), unit)} (staging: ${count(ofStage(staging), unit)})`;

const count = (number = 0, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

/** The facts that documents state, by name, as Markdown. They follow from the definitions. */
const facts: Readonly<Record<string, string>> = {
  operations: ['', '| operation | request | purpose |', '|---|---|---|', ...operationRows, ''].join(
    '\n',
  ),
  'canary minutes': inStages('minute', ({ canaryMinutes }) => canaryMinutes),
  limits: `\n${limitsText()}\n`,
  'days of recovery': inStages('day', ({ pointInTimeRecoveryDays }) => pointInTimeRecoveryDays),
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
