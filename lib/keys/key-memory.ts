import type { ApiKeyRecord } from './api-key.ts';
import { RecentEntries } from './recent-entries.ts';

/** What a read of the keys table found, when it was read, and how long that is used, in ms since 1970. */
export interface ReadKey {
  readonly record: ApiKeyRecord | undefined;
  readonly readAt: number;
  readonly freshUntil: number;
}

/**
 * Remembers reads of the keys table by the id of the key. Key ids are public, so what is read for keys whose
 * secret was wrong is kept apart: only a client with the secrets of as many other keys can evict a proven
 * key.
 */
export class KeyMemory {
  /** Keys that were in force, and whose secret a request had. */
  readonly #proven: RecentEntries<ReadKey>;
  readonly #unproven: RecentEntries<ReadKey>;

  constructor(maxProven = 10_000) {
    this.#proven = new RecentEntries(maxProven);
    this.#unproven = new RecentEntries(maxProven / 10);
  }

  get(keyId: string): ReadKey | undefined {
    return this.#proven.get(keyId) ?? this.#unproven.get(keyId);
  }

  set(keyId: string, read: ReadKey): void {
    const memory = this.#proven.has(keyId) ? this.#proven : this.#unproven;
    memory.set(keyId, read);
  }

  /** Marks a key as proven. */
  prove(keyId: string): void {
    const read = this.#unproven.get(keyId);
    if (!read) return;
    this.#unproven.delete(keyId);
    this.#proven.set(keyId, read);
  }
}
