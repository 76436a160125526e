// A bounded map whose values belong to owners, such as organizations. When it is full, the owners
// who have an equal part of it or more lose theirs, and those who have less keep them.

interface Owned<V> {
  readonly values: Map<string, V>;
  size: number;
}

export class OwnedMap<V> {
  readonly #sizeMax: number;
  readonly #sizeOf: (value: V) => number;
  readonly #owners = new Map<string, Owned<V>>();
  #size = 0;

  /** The sizes of all values come to `sizeMax` at most, unless one alone is larger. */
  constructor(sizeMax: number, sizeOf: (value: V) => number) {
    this.#sizeMax = sizeMax;
    this.#sizeOf = sizeOf;
  }

  get(owner: string, key: string): V | undefined {
    return this.#owners.get(owner)?.values.get(key);
  }

  /** Returns whether other values were forgotten to make room. */
  set(owner: string, key: string, value: V): boolean {
    const size = this.#sizeOf(value);
    const owned = this.#owners.get(owner);
    const before = owned?.values.get(key);
    if (owned !== undefined && before !== undefined) this.#resize(owned, -this.#sizeOf(before));
    const isFull = this.#size + size > this.#sizeMax;
    if (isFull) this.#makeRoom(size);
    this.#put(owner, key, value, size);
    return isFull;
  }

  #put(owner: string, key: string, value: V, size: number): void {
    let owned = this.#owners.get(owner);
    if (owned === undefined) {
      owned = { values: new Map(), size: 0 };
      this.#owners.set(owner, owned);
    }
    owned.values.set(key, value);
    this.#resize(owned, size);
  }

  #resize(owned: Owned<V>, more: number): void {
    owned.size += more;
    this.#size += more;
  }

  #makeRoom(size: number): void {
    while (this.#owners.size > 0 && this.#size + size > this.#sizeMax) {
      const equalPart = this.#size / this.#owners.size;
      for (const [owner, owned] of this.#owners) if (owned.size >= equalPart) this.forget(owner);
    }
  }

  delete(owner: string, key: string): void {
    const owned = this.#owners.get(owner);
    const value = owned?.values.get(key);
    if (owned === undefined || value === undefined) return;
    owned.values.delete(key);
    this.#resize(owned, -this.#sizeOf(value));
    if (owned.values.size === 0) this.#owners.delete(owner);
  }

  /** Forgets all values of an owner. */
  forget(owner: string): void {
    this.#size -= this.#owners.get(owner)?.size ?? 0;
    this.#owners.delete(owner);
  }
}
