import * as v from 'valibot';
import { exactNumber } from './exact-json.ts';
import { PetStatus } from './pet.ts';

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
        v.transform(exactNumber),
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(maxLimit),
      ),
      `${defaultLimit}`,
    ),
    `must be an integer from 1 to ${maxLimit}`,
  ),
  status: v.optional(PetStatus),
  cursor: v.message(v.optional(v.string()), 'must be text'),
});
export type ListPetsQuery = Readonly<v.InferOutput<typeof ListPetsQuery>>;
