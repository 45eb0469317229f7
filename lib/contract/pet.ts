import * as v from 'valibot';
import { type Int64, int64Bounds, isInt64 } from './exact-json.ts';
import { Id } from './ids.ts';

/** Every status, in the order in which lists return them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** Maximum length of a name, in code points. */
export const maxNameLength = 255;

const nameMessage = `must be text of 1 to ${maxNameLength} characters that is not blank`;

/**
 * Matches a name with a character that is not white space, in every regular expression dialect, and whether
 * an engine searches for a match (JSON Schema), starts at the first character (Python), or compares the whole
 * text (Java, .NET).
 */
const notBlank = /^\s*\S[\s\S]*$/;

/** The schema of text that a client sends. As in JSON Schema, its length counts code points. */
const textOf = (maxLength: number, message: string) =>
  v.pipe(
    v.string(message),
    v.check((text) => text !== '' && [...text].length <= maxLength, message),
    v.check((text) => text.isWellFormed(), 'must not have malformed Unicode'),
    v.metadata({ minLength: 1, maxLength }),
  );

/** The schema of a status that is one of these. */
const oneOf = <const Status extends string>(statuses: readonly Status[]) =>
  v.message(
    v.pipe(v.picklist(statuses), v.metadata({ description: 'Availability of the animal.' })),
    `must be one of ${statuses.join(', ')}`,
  );

export type PetStatus = (typeof petStatuses)[number];
export const PetStatus = oneOf(petStatuses);

/**
 * What a client sends to add an animal; its output has the default status if the client sent none. The
 * message of a field follows the field's name, and the metadata are in the field's JSON Schema.
 */
export const NewPet = v.pipe(
  v.object({
    name: v.pipe(
      textOf(maxNameLength, nameMessage),
      v.regex(notBlank, nameMessage),
      v.metadata({
        description:
          'Well-formed Unicode with at least one character that is not white space. Stored as you send it.',
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
            'Category of the animal. Every digit is kept. `1.0` is 1, but an exponent, as in `1e2`, gets 400.',
        }),
      ),
      'must be a 64-bit integer, without quotes and without an exponent',
    ),
    status: v.optional(PetStatus, 'available'),
  }),
  // Not `strictObject`, which stops at the first unknown field: `parseBody` names them all.
  v.metadata({
    title: 'NewPet',
    additionalProperties: false,
    description: 'The animal to add.',
  }),
);
export type NewPet = Readonly<v.InferOutput<typeof NewPet>>;

/**
 * An animal as the service stores and returns it. It has no rules for what a client has sent, so that stored
 * animals stay readable when those change.
 */
export const Pet = v.pipe(
  v.object({
    id: Id,
    name: v.pipe(v.string(), v.metadata({ description: 'Name of the animal, as it was sent.' })),
    categoryId: v.pipe(
      v.custom<Int64>(isInt64),
      v.metadata({ type: 'integer', format: 'int64', description: 'Category of the animal.' }),
    ),
    status: v.pipe(
      PetStatus,
      v.metadata({ description: 'Availability of the animal. New statuses may be added.' }),
    ),
  } satisfies Record<'id' | keyof NewPet, v.GenericSchema>),
  v.metadata({ title: 'Pet', description: 'An animal in the catalogue.' }),
);
export type Pet = Readonly<v.InferOutput<typeof Pet>>;
