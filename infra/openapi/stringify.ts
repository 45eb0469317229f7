import { int64Bounds } from '../../lib/contract/pet.ts';

/**
 * The text of a document, with the bounds of int64 as they are: a number of JavaScript holds them nearly, not quite.
 */
export const stringify = (document: object): string => {
  const exact = (_key: string, value: unknown) => {
    const bound = Object.values(int64Bounds).find((each) => Number(each) === value);
    return bound === undefined ? value : JSON.rawJSON(`${bound}`);
  };
  return `${JSON.stringify(document, exact, 2)}\n`;
};
