import fc from 'fast-check';
import * as v from 'valibot';
import { maxBodyBytes } from '../../lib/contract/limits.ts';
import { ListPetsQuery } from '../../lib/contract/list-pets-query.ts';
import { maxNameLength, NewPet, petStatuses } from '../../lib/contract/pet.ts';

/** Two names of the maximum length that differ only in the last one. */
export const longTexts = ['a', 'b'].map((end) => end.padStart(maxNameLength, 'x'));

/** The statuses with which a pet can be added. A new status is read first, and written in a later release. */
export const newPetStatuses = petStatuses.filter((status) => v.is(NewPet.entries.status, status));

/** Valid values of each field of a new pet. A field that is missing here is a type error. */
export const newPetFields = {
  name: fc.constantFrom('Zoë', ' 🐶 ', ...longTexts),
  categoryId: fc.constantFrom(0, -1, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n)),
  status: fc.constantFrom(...newPetStatuses),
} satisfies Record<keyof NewPet, fc.Arbitrary<unknown>>;

/** Invalid values of each field of a new pet, as JSON. An empty text leaves out a field that is required. */
export const wrongFields = {
  name: [
    ...['', 'null', '1', 'true', '["Rex"]', '{"first":"Rex"}', '""', '" \\t\\n\\u00a0\\u3000"'],
    ...['x', '🐶'].map((each) => `"${each.repeat(maxNameLength + 1)}"`),
    ...['"\\ud83d"', '"Rex\\ude00"'],
  ],
  categoryId: [
    ...['', 'null', '"1"', 'true', '[1]', '1.5', '1.0000000000000000001', '1e2', '1e400'],
    ...['9223372036854775808', '-9223372036854775809', '1'.repeat(maxBodyBytes - 100)],
  ],
  status: [
    ...['"lost"', '"Available"', '""', 'null', '["available"]', '0'],
    ...[...new Set(petStatuses).difference(new Set(newPetStatuses))].map((each) => `"${each}"`),
  ],
} satisfies Record<keyof NewPet, readonly string[]>;

/** The filters of `GET /pets`. Each is the name of a field. */
const filters = Object.keys(ListPetsQuery.entries).filter((name) => name in newPetFields);

/** Every selection of the filters of `GET /pets`, except the empty one. */
export const filterSets: string[][] = [];
for (const filter of filters)
  filterSets.push([filter], ...filterSets.map((selected) => [...selected, filter]));

/** The names of the fields that a schema requires. */
export const requiredFields = (entries: v.ObjectEntries): string[] =>
  Object.entries(entries)
    .filter(([, { type }]) => type !== 'optional')
    .map(([name]) => name);

const arbitraries: Record<string, fc.Arbitrary<unknown>> = newPetFields;

/** New pets as clients may send them: some lack optional fields. */
export const newPets = fc.record(arbitraries, {
  requiredKeys: requiredFields(NewPet.entries),
});
