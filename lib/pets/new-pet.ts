import * as z from 'zod/mini';
import { mustBe } from '../http/parse.ts';
import { type Int64, isInt64 } from './pet.ts';
import { PetStatusSchema } from './pet-status-schema.ts';

/** Of a name, in code points. */
export const maxNameLength = 255;
const nameRule = mustBe(`text of 1 to ${maxNameLength} characters that is not blank`);

const isName = (text: string) =>
  text.isWellFormed() && text.trim() !== '' && [...text].length <= maxNameLength;

/** What a client sends to add a pet. */
export const NewPet = z.strictObject(
  {
    name: z.string({ error: nameRule }).check(z.refine(isName, { error: nameRule })),
    categoryId: z.custom<Int64>(isInt64, { error: mustBe('a 64-bit integer in plain digits') }),
    status: z._default(PetStatusSchema, 'available'),
  },
  { error: () => 'The body must be a JSON object' },
);
export type NewPet = z.output<typeof NewPet>;
