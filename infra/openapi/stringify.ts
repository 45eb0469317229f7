import { int64Bounds } from '../../lib/contract/pet.ts';

/**
 * The text of a document with exact bounds of int64, which a JavaScript number would round.
 * Characters beyond U+FFFF are escaped, because some can't be seen.
 */
export const stringify = (document: object): string => {
  const exact = (_key: string, value: unknown) => {
    const bound = Object.values(int64Bounds).find((each) => Number(each) === value);
    return bound === undefined ? value : JSON.rawJSON(`${bound}`);
  };
  const text = JSON.stringify(document, exact, 2);
  return `${text.replace(/[\ud800-\udfff]/g, escaped)}\n`;
};

const escaped = (codeUnit: string) => `\\u${codeUnit.charCodeAt(0).toString(16)}`;
