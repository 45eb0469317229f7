import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseBody } from '../../lib/contract/parse-request.ts';
import { NewPet } from '../../lib/contract/pet.ts';
import { candidateId, creationOf, fingerprintOf } from '../../lib/pets/creation.ts';

describe('the ids that a creation tries', () => {
  // Another version of the service must find the pet of a repeated request.
  it.each([
    [0, 5913266321295341],
    [1, 7772924811704815],
  ])('are the same in each version: attempt %i', (attempt, id) => {
    const creation = creationOf({ owner: 'alice', key: 'first-pet' });
    expect(candidateId(creation, attempt)).toBe(id);
  });
});

describe('the fingerprint of a creation', () => {
  it('does not change when the schema gets another optional field, or its fields get another order', () => {
    const text = '{"categoryId":9223372036854775807,"name":"Rex","status":"available"}';
    const expected = createHash('sha256').update(text).digest();
    const rex = parseBody(NewPet, { name: 'Rex', categoryId: 2n ** 63n - 1n });
    const reason = 'Give a new field no default: a request that is repeated would get 422';
    expect(fingerprintOf(rex), reason).toEqual(expected);
    const { status, ...others } = rex;
    expect(fingerprintOf({ status, ...others })).toEqual(expected);
  });
});
