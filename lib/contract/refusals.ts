import { errors } from './errors.ts';

export type Kind = 'field' | 'query parameter';

/** Throws `invalid_request` if there are any offences. The message names each of them. */
export const refuse = (offences: readonly string[]) => {
  if (offences.length > 0) throw errors.invalidRequest(`${offences.join('; ')}.`);
};

/** Matches a short name of visible ASCII characters, but no quote and no markup. */
const plainName = /^[!#-%(-;=?-~]{1,32}$/;

/**
 * Returns the text for an unknown field or parameter in an error message. It has the name only if that is
 * plain and no part of an API key. The length of another name helps to find it.
 */
export const notKnown = (kind: Kind, name: string): string =>
  plainName.test(name) && !/pets_(live|test)_/.test(name)
    ? `${kind} ${name} is not known`
    : `a ${kind} with a name of length ${name.length} is not known`;
