import { statusIndex } from '../../lib/pets/stored-pet.ts';

/** An attribute that is part of a key. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: 'STRING' | 'NUMBER';
}

/** A global secondary index, which projects all attributes. */
interface Index {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  /** The id, or the second of two filters: one index then lists by the first one, and by both. */
  readonly sortKey: KeyAttribute;
}

/** A table of each stage. */
export interface TableSettings {
  /** Its id in the stack, which the `calls` of operations name. The stack's output is this with `Name`. */
  readonly id: `${string}Table`;
  /** The environment variable that gives the functions of operations its name. */
  readonly variable: string;
  readonly partitionKey: KeyAttribute;
  readonly indexes: readonly Index[];
}

/**
 * The tables, by the word that commands have for each. The stack, permissions, alarms, the dashboard,
 * the environment of functions and the local tables follow from this list.
 */
export const tables = {
  pets: {
    id: 'PetsTable',
    variable: 'PETS_TABLE',
    partitionKey: { name: 'id', type: 'NUMBER' },
    indexes: [
      {
        name: statusIndex,
        partitionKey: { name: 'status', type: 'STRING' },
        sortKey: { name: 'id', type: 'NUMBER' },
      },
    ],
  },
  keys: {
    id: 'KeysTable',
    variable: 'KEYS_TABLE',
    partitionKey: { name: 'keyId', type: 'STRING' },
    indexes: [],
  },
} as const satisfies Readonly<Record<string, TableSettings>>;

export type TableKind = keyof typeof tables;
