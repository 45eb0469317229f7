import * as z from 'zod/mini';
import { type Int64, petStatuses } from './bodies.ts';
import { isInt64 } from './pet.ts';

/** What a schema says of a value: that it is missing, or what it must be. */
const mustBe =
  (expected: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : `must be ${expected}`;

/** A status as clients send it. */
export const PetStatusSchema = z.enum(petStatuses, {
  error: mustBe(`one of ${petStatuses.join(', ')}`),
});

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

const maxLimit = 100;
const limitRule = mustBe(`an integer from 1 to ${maxLimit}`);

/** Query parameters of `GET /pets`. */
export const ListPetsQuery = z.strictObject({
  limit: z._default(
    z.pipe(
      z.pipe(
        z.string().check(z.regex(/^[1-9]\d{0,2}$/, { error: limitRule })),
        z.transform(Number),
      ),
      z.number().check(z.lte(maxLimit, { error: limitRule })),
    ),
    20,
  ),
  status: z.optional(PetStatusSchema),
  cursor: z.optional(z.string()),
});
export type ListPetsQuery = z.output<typeof ListPetsQuery>;
