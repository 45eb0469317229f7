import * as z from 'zod/mini';
import { mustBe } from '../http/parse.ts';
import { petStatuses } from './pet.ts';

/** A status as clients send it. */
export const PetStatusSchema = z.enum(petStatuses, {
  error: mustBe(`one of ${petStatuses.join(', ')}`),
});
