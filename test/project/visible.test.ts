import { expect, it } from 'vitest';
import { visible } from '../../lib/contract/pet.ts';

const maxCodePoint = 0x10ffff;
const invisible = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

it(`visible knows the properties of Unicode ${process.versions['unicode']}`, () => {
  const wrong: string[] = [];
  for (let codePoint = 0; codePoint <= maxCodePoint; codePoint += 1) {
    const character = String.fromCodePoint(codePoint);
    if (visible.test(character) === invisible.test(character)) wrong.push(codePoint.toString(16));
  }
  expect(wrong).toEqual([]);
});
