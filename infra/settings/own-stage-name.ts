/** Words beside the names of the permanent stages by which people mean one of them. */
const otherWords: readonly string[] = ['live', 'stage', 'stg'];

/** Digits that look like letters, as in `pr0d` or `5tag1ng`. */
const lettersOfDigits: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  9: 'g',
};

/** What a reader sees of a name at a glance: letters in lower case, without accents and hyphens. */
const appearanceOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\d/g, (digit) => lettersOfDigits[digit] ?? digit)
    .replace(/[^a-z0-9]/g, '');

/** Whether two texts differ by at most one slip: a letter too many, missing or wrong, or two swapped. */
const differByOneSlip = (one: string, other: string): boolean => {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const rest = one.slice(start, one.length - end);
  const otherRest = other.slice(start, other.length - end);
  if (rest.length <= 1 && otherRest.length <= 1) return true;
  return rest.length === 2 && rest === [...otherRest].reverse().join('');
};

/**
 * Throws an error that says why a name can't be that of a stage of one's own: it could be taken for a
 * permanent stage, as `prod2`, `Prod` and `prdo` could, it has another meaning, or it is malformed.
 */
export const requireOwnName = (name: string, permanent: readonly string[]): void => {
  const appearance = appearanceOf(name);
  const model = permanent.find((each) => {
    const seen = appearanceOf(each);
    return appearance.includes(seen) || differByOneSlip(appearance, seen);
  });
  if (model !== undefined)
    throw new Error(
      `The stage ${JSON.stringify(name)} could be taken for ${model}: choose another name.`,
    );
  const words = name.toLowerCase().split('-');
  if (words.some((word) => otherWords.includes(word)))
    throw new Error(
      `The stage ${JSON.stringify(name)} could be taken for ${permanent.join(' or ')}: choose another name.`,
    );
  // An account has the stacks `AnimalStore-account` and `AnimalStore-github`. `local` is the stage of
  // npm start.
  if (['account', 'github'].includes(words[0] ?? '') || name === 'local')
    throw new Error(`${name} has another meaning: choose another name for a stage of your own.`);
  if (!/^(?=.{2,20}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw new Error(
      `There is no stage ${JSON.stringify(name)}. The name of a stage of your own has 2 to 20 characters: a-z, 0-9 and single hyphens, a letter first.`,
    );
};
