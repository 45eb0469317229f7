import { errors } from './errors.ts';

export type Kind = 'field' | 'query parameter';

/** Throws `invalid_request` if there are any offences. The message names each of them. */
export const refuse = (offences: readonly string[]) => {
  if (offences.length > 0) throw errors.invalidRequest(`${offences.join('; ')}.`);
};

/**
 * Returns the text for a field or parameter in an error message. It contains the name only if
 * that is short and plain.
 */
export const called = (kind: Kind, name: string): string =>
  /^(?!pets_(live|test)_)[\w.$-]{1,32}$/.test(name)
    ? `${kind} ${name}`
    : `a ${kind} with an unprintable name`;

export const notKnown = (kind: Kind, name: string) => `${called(kind, name)} is not known`;
