/** A map that keeps at most `maxSize` entries: those that were set last. */
export class RecentEntries<Value> extends Map<string, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    for (const oldest of this.keys()) {
      if (this.size < this.#maxSize) break;
      this.delete(oldest);
    }
    return super.set(key, value);
  }
}
