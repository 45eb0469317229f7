import * as z from 'zod/mini';
import { mustBe } from '../http/parse.ts';
import { PetStatusSchema } from './pet-status-schema.ts';

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
