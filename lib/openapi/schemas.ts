import { petStatuses } from '../contract/bodies.ts';
import { errorDescriptions } from '../contract/errors.ts';
import { int64Bounds } from '../contract/pet.ts';
import { defaultStatus, maxNameLength, visible } from '../contract/requests.ts';

/**
 * `visible`, for engines that compare UTF-16 code units (JavaScript without the `u` flag) as well as for those that
 * compare code points. No syntax for ranges beyond U+FFFF works in both, so these are left out.
 */
const notBlank = visible.source.replace(/\\u\{\w+\}-?/g, '');

/** A schema by its name. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const name = {
  type: 'string',
  minLength: 1,
  maxLength: maxNameLength,
  pattern: notBlank,
  description:
    'Well-formed Unicode with at least one visible character. The pattern does not know the invisible characters beyond U+FFFF, such as tags. Stored as you send it.',
};

const categoryId = {
  type: 'integer',
  format: 'int64',
  ...int64Bounds,
  description:
    'Category of the animal. Every digit is kept. Write it in plain digits: `1.0` and `1e2` get 400.',
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
    description: 'An animal in the catalogue.',
  },
  Pets: { type: 'array', items: ref('Pet'), description: 'Animals by status and then `id`.' },
  Error: {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description: 'Identifies the error. New codes may be added.',
        examples: Object.keys(errorDescriptions),
      },
      message: {
        type: 'string',
        description: 'Explains the error to people. The wording may change.',
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
    description: 'Assigned by the service. Below 2^53, so every JSON parser keeps each digit.',
  },
};
