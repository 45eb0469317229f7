import { printable } from '../shared/terminal.ts';

/** Formats a value as printable JSON on one line. */
export const toJson = (value: unknown): string => printable(JSON.stringify(value));

/**
 * Formats rows as lines of aligned columns under the names of their members. Cells have no quotes. `null`
 * and `undefined` are shown as empty cells.
 */
export const toTable = (rows: readonly object[]): string[] => {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) => {
    const values = new Map(Object.entries(row));
    return names.map((name) => printable(`${values.get(name) ?? ''}`));
  });
  const lines = [names, ...cells];
  const widths = names.map((_name, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => line.trimEnd());
};
