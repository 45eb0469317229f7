import * as z from 'zod/mini';
import { int64Bounds } from '../../lib/contract/pet.ts';
import {
  invisible,
  ListPetsQuery,
  maxNameLength,
  NewPet,
  PetStatusSchema,
} from '../../lib/contract/request-schemas.ts';
import { describedErrors } from './errors.ts';

const PetId = z.int().check(z.gte(1));

const Pet = z.object({
  id: PetId,
  name: NewPet.shape.name,
  categoryId: NewPet.shape.categoryId,
  status: PetStatusSchema,
});

const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  status: z.int().check(z.gte(400), z.lte(599)),
});

// Each character beyond U+FFFF as itself: engines differ in how they write it.
const notBlank = `[^${invisible.replace(/\\u\{(\w+)\}/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))}]`;

/** What zod's own conversion can't know: names, descriptions, and the rules that are code. */
const described = z
  .registry<z.core.JSONSchemaMeta>()
  .add(PetStatusSchema, { id: 'PetStatus', description: 'Whether an animal can be had.' })
  .add(NewPet, { id: 'NewPet', description: 'What a client sends to add an animal.' })
  .add(Pet, { id: 'Pet', description: 'An animal of the catalogue.' })
  .add(z.array(Pet), { id: 'Pets', description: 'Animals, ordered by status, then id.' })
  .add(ErrorBody, { id: 'Error', description: 'The body of every error response.' })
  .add(PetId, {
    id: 'PetId',
    format: 'int64',
    description: 'Given by the service, and exact in every JSON reader.',
    examples: [7905532871371142],
  })
  .add(NewPet.shape.name, {
    minLength: 1,
    maxLength: maxNameLength,
    pattern: notBlank,
    description: 'Not blank, in well-formed Unicode, and kept as sent.',
    examples: ['Rex'],
  })
  .add(NewPet.shape.categoryId, {
    description:
      'The category that the animal belongs to. Every digit is kept; a number that is not written in plain digits, such as `1.0` or `1e2`, is refused.',
    examples: [1],
  })
  .add(ErrorBody.shape.code, {
    description: 'For programs: it tells one error from another. Codes may be added.',
    examples: describedErrors.map(({ code }) => code),
  })
  .add(ErrorBody.shape.message, { description: 'For people: its words may change.' })
  .add(ErrorBody.shape.status, { description: 'The HTTP status code of the response.' })
  .add(ListPetsQuery, { id: 'ListPetsQuery' })
  .add(ListPetsQuery.shape.limit, {
    type: 'integer',
    minimum: 1,
    description:
      'The most animals that the page may hold. It can hold fewer, or none, and still have a `Link`.',
  })
  .add(ListPetsQuery.shape.status, { description: 'Lists only animals of this status.' })
  .add(ListPetsQuery.shape.cursor, {
    description:
      'Where the page starts: take it, with the whole address, from the `Link` of the page before. It holds for the `status` that it was given for.',
  });

/** JSON Schemas of what clients send (`input`), or of what the service reads from it (`output`), by name. */
const convert = (io: 'input' | 'output') =>
  z.toJSONSchema(described, {
    io,
    metadata: described,
    uri: (id) => `#/components/schemas/${id}`,
    // The one rule that is code alone; any other makes zod throw.
    unrepresentable: ({ zodSchema }) =>
      zodSchema === NewPet.shape.categoryId
        ? {
            type: 'integer',
            format: 'int64',
            minimum: Number(int64Bounds.minimum),
            maximum: Number(int64Bounds.maximum),
          }
        : 'throw',
  }).schemas;

/** The schemas of all bodies, by name. */
export const bodySchemas = () => {
  const { ListPetsQuery: _, ...bodies } = convert('input');
  return Object.fromEntries(
    Object.entries(bodies).map(([name, { $schema, $id, ...schema }]) => [name, schema]),
  );
};

/** The schemas of the query parameters of `GET /pets`, by name. */
export const listPetsParameters = () => convert('output')['ListPetsQuery']?.properties ?? {};
