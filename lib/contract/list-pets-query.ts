import * as v from 'valibot';
import { Pet, PetStatus } from './pet.ts';

/** Number of pets on a page for a client that asks for no number. */
const defaultLimit = 20;
/** Maximum number of pets on a page. */
export const maxLimit = 100;

/**
 * The query of `GET /pets`, whose values are text; its output has the default limit if the client sent none.
 */
export const ListPetsQuery = v.object({
  limit: v.message(
    v.optional(
      v.pipe(
        v.string(),
        v.regex(/^[1-9]\d*$/),
        v.transform(Number),
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(maxLimit),
        v.metadata({ format: 'int32' }),
      ),
      `${defaultLimit}`,
    ),
    `must be an integer from 1 to ${maxLimit} in plain digits`,
  ),
  status: v.optional(PetStatus),
  cursor: v.message(
    v.optional(v.pipe(v.string(), v.metadata({ maxLength: 255, pattern: '^[A-Za-z0-9_-]+$' }))),
    'must be text',
  ),
});
export type ListPetsQuery = Readonly<v.InferOutput<typeof ListPetsQuery>>;

/** The body of a list. */
export const Pets = v.pipe(
  v.array(Pet),
  v.metadata({ title: 'Pets', description: 'A page of animals.' }),
);
