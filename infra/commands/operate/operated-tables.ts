import { ApiKeyRecord, toApiKeyRecord } from '../../../lib/keys/api-key.ts';
import { StoredPet, toPet } from '../../../lib/pets/stored-pet.ts';
import type { Stage } from '../../settings/stages.ts';
import type { TableKind } from '../../settings/tables.ts';
import { stageWords } from '../stage-option.ts';

/** What `npm run operate` knows of the items of a table, besides its definition in `tables.ts`. */
interface OperatedTable {
  /** Reads an item as the service does for clients. Throws for a corrupt one. */
  readonly read: (item: Record<string, unknown>) => unknown;
  /** The fields of an item. */
  readonly fields: readonly string[];
  /** Whether `copy-back` replaces an item that the table has with other values. */
  readonly isReplaced: boolean;
  /** What clients and operators notice when the items of a copy are written back. */
  readonly copyBackNotice: string;
  /** What clients notice when an item is removed. */
  readonly removalNotice: string;
  /** What an operator has to know of the backup that DynamoDB makes when the table is deleted. */
  readonly systemBackup: string;
  /** What an operator has to do when the table is restored from a backup. */
  readonly restoreNotices: (stage: Stage) => readonly string[];
}

const whenDeleted =
  'A SYSTEM backup is the table as it was when it was deleted, with any damage that it had.';

/** The tables by the word that `npm run operate` has for each. */
export const operatedTables: Readonly<Record<TableKind, OperatedTable>> = {
  pets: {
    read: toPet,
    fields: Object.keys(StoredPet.entries),
    isReplaced: true,
    copyBackNotice:
      'Clients find the pets of the copy again, as they were then: also those that were deleted on purpose since, and without the corrections made since. Pets that were added since stay.',
    removalNotice: 'Clients get 404 for this pet.',
    systemBackup: whenDeleted,
    restoreNotices: () => [],
  },
  keys: {
    read: toApiKeyRecord,
    fields: Object.keys(ApiKeyRecord.entries),
    // The copy could make a revoked key valid again.
    isReplaced: false,
    copyBackNotice:
      "Keys that the table has stay as they are, because the copy could make a revoked key valid again. Missing keys are written as they were then: those that were revoked, or that a rotation ended, since then are valid again. Revoke each whose state you don't know, and issue another one.",
    removalNotice: 'The client with this key gets 401.',
    systemBackup: `${whenDeleted} Only the latest one has every revocation and rotation of keys.`,
    restoreNotices: (stage) => [
      `Keys that were revoked, or that a rotation ended, since the backup are valid again, and keys that were issued since are gone. npm run keys -- list ${stageWords(stage)} shows which keys are valid now: revoke each whose state you don't know, and issue another one.`,
    ],
  },
};
