import * as z from 'zod/mini';

/** A 64-bit signed integer: a `number` where that is exact, else a `bigint`. */
export type Int64 = number | bigint;

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

const isInt64 = (value: unknown): value is Int64 =>
  typeof value === 'bigint'
    ? value >= int64Bounds.minimum && value <= int64Bounds.maximum
    : Number.isSafeInteger(value);

const mustBe =
  (expected: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : `must be ${expected}`;

/** Every status, in the order of a list. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** Whether an animal can be had. */
export const PetStatus = z.enum(petStatuses, {
  error: mustBe(`one of ${petStatuses.join(', ')}`),
});
export type PetStatus = z.output<typeof PetStatus>;

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
    status: z._default(PetStatus, 'available'),
  },
  { error: () => 'The body must be a JSON object' },
);
export type NewPet = z.output<typeof NewPet>;

/** An animal of the catalogue. */
export interface Pet extends NewPet {
  /** 1 to 2^53-1, so that every JSON reader keeps it. */
  readonly id: number;
}

/** A pet's id as written in a path; `undefined` where no pet can have it. */
export const parsePetId = (text: string | undefined): number | undefined => {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
};

/** The checked boundary from a stored item to a pet. Throws for an item that is none. */
export const toPet = ({ id, name, categoryId, status }: Record<string, unknown>): Pet => {
  const known = PetStatus.safeParse(status);
  if (
    typeof id !== 'number' ||
    typeof name !== 'string' ||
    !isInt64(categoryId) ||
    !known.success
  ) {
    throw new Error('A stored pet is malformed');
  }
  return { id, name, categoryId, status: known.data };
};

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
  status: z.optional(PetStatus),
  cursor: z.optional(z.string()),
});
export type ListPetsQuery = z.output<typeof ListPetsQuery>;
