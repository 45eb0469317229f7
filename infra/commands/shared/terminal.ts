import { createInterface } from 'node:readline/promises';
import { failedCallOf } from './failed-calls.ts';

/**
 * Characters that a terminal interprets, hides, or shows as if they were a space: control, format, surrogate
 * and ignorable characters, the blank of Braille, and every space but the usual one.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|[^\S ]/gu;

const escapeOf = (character: string): string => {
  const units = Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
};

/** Tells whether a terminal shows every character of a text, in the order of the text. */
export const isPrintable = (text: string): boolean => text.search(unprintable) < 0;

/** Returns a text with these characters escaped, so that it can't alter what a terminal shows. */
export const printable = (text: string): string => text.replaceAll(unprintable, escapeOf);

/**
 * Returns a text as one word of a shell's command, in single quotes unless a shell would read it so anyway.
 */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Says where the credentials of AWS were looked for. */
const credentialsTried = (): string => {
  const { AWS_PROFILE } = process.env;
  return AWS_PROFILE
    ? `The profile ${AWS_PROFILE} has no credentials of AWS that can be loaded`
    : 'There are no credentials of AWS in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in the profile default: set AWS_PROFILE';
};

/**
 * What the SDK writes for programmers around the message of an error: its own package, and where a response
 * is.
 */
const forProgrammers =
  /^@smithy\/node-http-handler - |\s*Deserialization error: to see the raw response, .*/g;

const reasonOf = (error: Error): string => {
  // Node.js has tried several addresses of a host, and found no words for all of them.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error.message.replaceAll(forProgrammers, '') || error.name;
};

/**
 * Returns the message of an error for an operator: a sentence without a stack trace. It begins with the call
 * of AWS that failed, if one did.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `${error}`;
  if (/^Region (is missing|not accepted: region="")/.test(error.message))
    return 'There is no region of AWS: set AWS_REGION, or AWS_PROFILE to a profile with a region';
  if (error.name === 'CredentialsProviderError') return `${credentialsTried()}. ${error.message}`;
  const call = failedCallOf(error);
  return call === undefined ? reasonOf(error) : `${call}: ${reasonOf(error)}`;
};

/**
 * Prints a printable line about an error, or about each error of an AggregateError, and makes the command
 * end with exit code 1.
 */
export const fail = (error: unknown): void => {
  const isList = error instanceof AggregateError && failedCallOf(error) === undefined;
  const errors: readonly unknown[] = isList ? error.errors : [error];
  for (const each of errors) console.error(`error: ${printable(messageOf(each))}`);
  process.exitCode = 1;
};

/** Asks an operator to type something. */
export type Ask = (question: string) => Promise<string>;

/** Asks in the terminal; `undefined` if there is none. */
export const askInTerminal: Ask | undefined = process.stdin.isTTY
  ? async (question) => {
      using terminal = createInterface({ input: process.stdin, output: process.stderr });
      try {
        // Without `await`, the terminal would be closed before the answer is typed.
        return await terminal.question(question);
      } catch {
        // Ctrl-C and Ctrl-D are no answer, and leave the cursor behind the question.
        console.error();
        return '';
      }
    }
  : undefined;
