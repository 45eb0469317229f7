import { statusIndex } from '../../lib/pets/status-index.ts';

/** An attribute that is part of a key, with its type in DynamoDB. */
interface KeyAttribute {
  readonly name: string;
  readonly type: 'string' | 'number';
}

/** A global secondary index of the pets table. It projects all attributes. */
interface PetsIndex {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
}

/**
 * All indexes of the pets table. The stack, the permissions, the alarm, the dashboard, `npm run operate` and
 * the local tables follow from this list.
 */
export const indexes = [
  {
    name: statusIndex,
    partitionKey: { name: 'status', type: 'string' },
    sortKey: { name: 'id', type: 'number' },
  },
] as const satisfies readonly PetsIndex[];
export type IndexName = (typeof indexes)[number]['name'];
