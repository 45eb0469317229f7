import * as v from 'valibot';
import { type Int64, int64Bounds, isInt64 } from './exact-json.ts';

/** Every status, in the order in which lists return them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** Maximum length of a name, in code points. */
export const maxNameLength = 255;

/**
 * The code points that are invisible in a name, as the ranges of a RegExp: Unicode's White_Space, Cc, Cf and
 * Default_Ignorable_Code_Point in version 17.0. A RegExp takes five times as long to compile with `\p{…}`.
 * Some generators of clients write `\u2028` as that character, which no regular expression may contain. `\s`
 * covers it, and `\x` is for controls.
 * https://www.unicode.org/Public/17.0.0/ucd/PropList.txt
 * https://www.unicode.org/Public/17.0.0/ucd/DerivedCoreProperties.txt
 * https://www.unicode.org/Public/17.0.0/ucd/extracted/DerivedGeneralCategory.txt
 */
const invisible =
  '\\s\\x00-\\x20\\x7f-\\xa0\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f' +
  '\\u0890-\\u0891\\u08e2\\u115f-\\u1160\\u1680\\u17b4-\\u17b5\\u180b-\\u180f' +
  '\\u2000-\\u200f\\u202a-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}' +
  '\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/** Matches a visible character. */
export const visible = /* @__PURE__ */ (() => new RegExp(`[^${invisible}]`, 'u'))();

/**
 * `visible`, for engines that compare UTF-16 code units (JavaScript without the `u` flag) as well as for
 * those that compare code points. No syntax for ranges beyond U+FFFF works in both, so these are left out.
 */
const visiblePattern = `[^${invisible.replace(/\\u\{\w+\}-?/g, '')}]`;

const nameMessage = `must be text of 1 to ${maxNameLength} characters that is not blank`;

const isName = (text: string): boolean => visible.test(text) && [...text].length <= maxNameLength;

const statusDescription = 'Availability of the animal.';

/** The schema of a status that is one of these. */
/* @__NO_SIDE_EFFECTS__ */
const oneOf = <const Status extends string>(statuses: readonly Status[]) =>
  v.message(
    v.pipe(v.picklist(statuses), v.metadata({ description: statusDescription })),
    `must be one of ${statuses.join(', ')}`,
  );

export type PetStatus = (typeof petStatuses)[number];
export const PetStatus = oneOf(petStatuses);

export const PetId = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(1),
  v.metadata({
    format: 'int64',
    description: 'Assigned by the service. Below 2^53, so every JSON parser keeps each digit.',
  }),
);

/**
 * What a client sends to add an animal; its output has the default status if the client sent none. The
 * message of a field follows the field's name, and the metadata are in the field's JSON Schema.
 */
export const NewPet = v.pipe(
  v.object({
    name: v.pipe(
      v.string(nameMessage),
      v.check(isName, nameMessage),
      // The message of the last check that fails is the one that the client gets.
      v.check((text) => text.isWellFormed(), 'must not have malformed Unicode'),
      v.metadata({
        minLength: 1,
        maxLength: maxNameLength,
        pattern: visiblePattern,
        description:
          'Well-formed Unicode with at least one visible character. The pattern does not know the invisible characters beyond U+FFFF, such as tags. Stored as you send it.',
      }),
    ),
    categoryId: v.message(
      v.pipe(
        v.custom<Int64>(isInt64),
        v.metadata({
          type: 'integer',
          format: 'int64',
          ...int64Bounds,
          description:
            'Category of the animal. Every digit is kept. Write it in plain digits: `1.0` and `1e2` get 400.',
        }),
      ),
      'must be a 64-bit integer in plain digits, without quotes',
    ),
    status: v.optional(PetStatus, 'available'),
  }),
  // Not `strictObject`, which stops at the first unknown field: `parseBody` names them all.
  v.metadata({ additionalProperties: false, description: 'The animal to add.' }),
);
export type NewPet = Readonly<v.InferOutput<typeof NewPet>>;

/** An animal of the catalogue, as this version of the service stores and returns it. */
export const Pet = v.object({ id: PetId, ...NewPet.entries, status: PetStatus });
export type Pet = Readonly<v.InferOutput<typeof Pet>>;

/**
 * An animal as clients must expect it in a response: a later version of the service can have a status that
 * they do not know. No function of the API bundles it.
 */
export const PetResponse = /* @__PURE__ */ (() =>
  v.pipe(
    v.object({
      ...Pet.entries,
      status: v.pipe(
        v.string(),
        v.examples([...petStatuses]),
        v.metadata({ description: `${statusDescription} New statuses may be added.` }),
      ),
    }),
    v.metadata({ description: 'An animal in the catalogue.' }),
  ))();

/** Parses the id of a pet in a path. Returns `undefined` for an invalid id. */
export const parsePetId = (text: string | undefined): number | undefined => {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
};
