/**
 * Characters that a terminal interprets or hides: control, format and surrogate characters, and the
 * separators of lines and paragraphs.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapeOf = (character: string): string => {
  const units = Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
};

/** Tells whether a terminal shows every character of a text, in the order of the text. */
export const isPrintable = (text: string): boolean => text.search(unprintable) < 0;

/** Returns a text with control and format characters escaped, so that it can't alter what a terminal shows. */
export const printable = (text: string): string => text.replaceAll(unprintable, escapeOf);

/** Returns a text as one word of a shell's command, in single quotes unless a shell would read it so anyway. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
