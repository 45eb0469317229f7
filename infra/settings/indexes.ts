import { statusIndex } from '../../lib/pets/stored-pet.ts';

/** A global secondary index, with the names and types of its keys. */
export interface Index {
  readonly name: string;
  readonly partitionKey: { readonly name: string; readonly type: 'STRING' | 'NUMBER' };
  readonly sortKey: { readonly name: string; readonly type: 'STRING' | 'NUMBER' };
}

/**
 * The global secondary indexes of the pets table, with their keys. Each projects all attributes. The stack,
 * the permissions, the alarm, the dashboard, `npm run operate` and the local tables follow from this list.
 */
export const indexes = [
  {
    name: statusIndex,
    partitionKey: { name: 'status', type: 'STRING' },
    sortKey: { name: 'id', type: 'NUMBER' },
  },
] as const satisfies readonly Index[];
