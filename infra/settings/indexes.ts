import { statusIndex } from '../../lib/pets/index-names.ts';

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
] as const;
export type IndexName = (typeof indexes)[number]['name'];
