import * as z from 'zod/mini';
import { petStatuses } from '../../../lib/contract/bodies.ts';
import { errors } from '../../../lib/contract/errors.ts';
import { maxLimit, maxNameLength } from '../../../lib/contract/requests.ts';

/*
 * The contract in zod's smallest form, which the documentation of Hono and of Powertools validates with:
 * https://hono.dev/docs/guides/validation and https://docs.aws.amazon.com/powertools/typescript/latest/features/event-handler/http/
 */

export const NewPet = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(maxNameLength)),
  categoryId: z.int(),
  status: z._default(z.enum(petStatuses), 'available'),
});

export const ListPetsQuery = z.strictObject({
  limit: z._default(
    z.pipe(z.pipe(z.string(), z.transform(Number)), z.int().check(z.gte(1), z.lte(maxLimit))),
    20,
  ),
  status: z.optional(z.enum(petStatuses)),
  cursor: z.optional(z.string()),
});

/** What a client sent, as the schema's type. Throws `invalid_request`. */
export const parse = <Schema extends z.ZodMiniType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> => {
  const { data, error } = schema.safeParse(input);
  if (error) throw errors.invalidRequest(error.message);
  return data;
};
