import { petStatuses } from '../../lib/contract/bodies.ts';
import { int64Bounds } from '../../lib/contract/pet.ts';
import {
  defaultLimit,
  defaultStatus,
  maxLimit,
  maxNameLength,
  visible,
} from '../../lib/contract/requests.ts';
import { describedErrors } from './errors.ts';

// Each character beyond U+FFFF as itself: engines differ in how they write it.
const notBlank = visible.source.replace(/\\u\{(\w+)\}/g, (_, hex) =>
  String.fromCodePoint(Number.parseInt(hex, 16)),
);

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const name = {
  type: 'string',
  minLength: 1,
  maxLength: maxNameLength,
  pattern: notBlank,
  description: 'Has a visible character and is well-formed Unicode. It is stored as you send it.',
};

const categoryId = {
  type: 'integer',
  format: 'int64',
  minimum: Number(int64Bounds.minimum),
  maximum: Number(int64Bounds.maximum),
  description:
    'Category of the animal. Every digit is kept. Write plain digits: `1.0` or `1e2` gets 400.',
};

/** The JSON Schemas of all bodies, by name. */
export const bodySchemas = {
  PetStatus: { type: 'string', enum: petStatuses, description: 'Availability of the animal.' },
  NewPet: {
    type: 'object',
    properties: { name, categoryId, status: { default: defaultStatus, ...ref('PetStatus') } },
    required: ['name', 'categoryId'],
    additionalProperties: false,
    description: 'The animal to add.',
  },
  Pet: {
    type: 'object',
    properties: { id: ref('PetId'), name, categoryId, status: ref('PetStatus') },
    required: ['id', 'name', 'categoryId', 'status'],
    description: 'An animal of the catalogue.',
  },
  Pets: { type: 'array', items: ref('Pet'), description: 'Animals, ordered by status, then id.' },
  Error: {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description: 'Identifies the error, for programs. New codes may be added.',
        examples: describedErrors.map(({ code }) => code),
      },
      message: {
        type: 'string',
        description: 'Explains the error, for people. The words may change.',
      },
      status: {
        type: 'integer',
        minimum: 400,
        maximum: 599,
        description: 'The HTTP status code of the response.',
      },
    },
    required: ['code', 'message', 'status'],
    description: 'The body of every error response.',
  },
  PetId: {
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description: 'Assigned by the service. Exact in every JSON reader.',
  },
};

const query = (name: string, schema: object, description: string) => ({
  in: 'query',
  name,
  description,
  schema,
});

/** The query parameters of `GET /pets`. */
export const listPetsParameters = [
  query(
    'limit',
    { default: defaultLimit, type: 'integer', minimum: 1, maximum: maxLimit },
    'Maximum number of animals on the page. It can hold fewer, or none, and still have a `Link`.',
  ),
  query('status', ref('PetStatus'), 'Lists only animals of this status.'),
  query(
    'cursor',
    { type: 'string' },
    'Where the page starts, as the `Link` of the page before says. It is valid for the same `status` only.',
  ),
];
