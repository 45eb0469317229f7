/**
 * Characters that a terminal interprets or hides: control, format and surrogate characters, and the
 * separators of lines and paragraphs.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapeOf = (character: string): string => {
  const units = Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
};

const escaped = (text: string): string => text.replaceAll(unprintable, escapeOf);

/** Tells whether a terminal shows every character of a text, in the order of the text. */
export const isPrintable = (text: string): boolean => text.search(unprintable) < 0;

/**
 * Formats a value as JSON on one line. Escapes control and format characters, so that no value can
 * alter what a terminal shows.
 */
export const toJson = (value: unknown): string => escaped(JSON.stringify(value));

/**
 * Formats rows as aligned columns under the names of their members. Cells have no quotes. `null` and
 * `undefined` are shown as empty cells.
 */
export const toTable = (rows: readonly object[]): string => {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) => {
    const values = new Map(Object.entries(row));
    return names.map((name) => escaped(`${values.get(name) ?? ''}`));
  });
  const lines = [names, ...cells];
  const widths = names.map((_name, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
};
