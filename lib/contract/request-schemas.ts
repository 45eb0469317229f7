import * as z from 'zod/mini';
import { type Int64, petStatuses } from './bodies.ts';
import { isInt64 } from './pet.ts';

// The schemas are pure calls, so that a bundle leaves out the one that its function does not use.

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

/**
 * The characters that can't be seen, as the ranges of a class: Unicode's White_Space, Cc, Cf and Default_Ignorable_Code_Point. To
 * compile those by their names takes five times as long.
 */
export const invisible = String.raw`\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`;
const visible = new RegExp(`[^${invisible}]`, 'u');

const isName = (text: string) =>
  text.isWellFormed() && visible.test(text) && [...text].length <= maxNameLength;

/** What a client sends to add a pet. */
export const NewPet = /* @__PURE__ */ (() =>
  z.strictObject(
    {
      name: z.string({ error: nameRule }).check(z.refine(isName, { error: nameRule })),
      categoryId: z.custom<Int64>(isInt64, { error: mustBe('a 64-bit integer in plain digits') }),
      status: z._default(PetStatusSchema, 'available'),
    },
    { error: () => 'The body must be a JSON object' },
  ))();
export type NewPet = z.output<typeof NewPet>;

const maxLimit = 100;
const limitRule = mustBe(`an integer from 1 to ${maxLimit}`);

/** Query parameters of `GET /pets`. */
export const ListPetsQuery = /* @__PURE__ */ (() =>
  z.strictObject({
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
  }))();
export type ListPetsQuery = z.output<typeof ListPetsQuery>;
