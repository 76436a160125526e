// A bounded queue that is fair between organizations: each has a queue of its own, and they take
// turns by deficit round robin. An organization may use what is free. When a bound is reached, the
// newest of the organization that uses most goes, so nobody can fill the queue for others. The
// lists are linked both ways, because a request whose client has gone is removed wherever it is.

import { assert, defined } from '../core/assert.ts';
import { FixedQueue } from '../core/fixed-queue.ts';

export interface QueueBounds {
  readonly requests: number;
  readonly bytes: number;
  /** The part of both that one organization may use: from 0 to 1. */
  readonly organizationShare: number;
}

/** The queue is full, or its organization's part of it, or others that use less need the room. */
export const noRoomReasons = ['full', 'organization', 'largest'] as const;
export type NoRoom = (typeof noRoomReasons)[number];

interface Item<T> {
  readonly id: number;
  readonly bytes: number;
  readonly value: T;
  readonly owner: Owner<T>;
  before: Item<T> | null;
  after: Item<T> | null;
}

/** An organization that has something in the queue. */
class Owner<T> {
  readonly name: string;
  oldest: Item<T> | null = null;
  newest: Item<T> | null = null;
  length = 0;
  bytes = 0;
  /** The bytes that it may still take in this round. */
  deficit = 0;

  constructor(name: string) {
    this.name = name;
  }

  append(item: Item<T>): void {
    item.before = this.newest;
    if (this.newest === null) this.oldest = item;
    else this.newest.after = item;
    this.newest = item;
    this.length++;
    this.bytes += item.bytes;
  }

  remove({ before, after, bytes }: Item<T>): void {
    if (before === null) this.oldest = after;
    else before.after = after;
    if (after === null) this.newest = before;
    else after.before = before;
    this.length--;
    this.bytes -= bytes;
  }
}

const always = () => true;

/** What an organization may take in a round. A request that is larger waits for some rounds. */
export const turnBytes = 8 * 1024;

export class FairQueue<T> {
  #bounds: QueueBounds;
  readonly #onEvicted: (value: T) => void;
  readonly #items = new Map<number, Item<T>>();
  readonly #owners = new Map<string, Owner<T>>();
  /** In the order of their turns. Who has nothing left is dropped when its turn comes. */
  readonly #turns = new FixedQueue<Owner<T>>();
  #current: Owner<T> | null = null;
  #bytes = 0;
  /** No organization uses a larger share. It is exact when `#largest` has just looked for it. */
  #largestShare = 0;

  /** `onEvicted` gets what goes because others, who use less, need its room. */
  constructor(bounds: QueueBounds, onEvicted: (value: T) => void) {
    this.#bounds = bounds;
    this.#onEvicted = onEvicted;
  }

  /** What is beyond new bounds stays until its turn. */
  set bounds(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#items.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a value under an id that no other has. Returns null, or why there is no room for it. */
  put(id: number, organization: string, bytes: number, value: T): NoRoom | null {
    const known = this.#owners.get(organization);
    const used = this.#shareWith(known, bytes);
    const noRoom = this.#noRoomFor(used, bytes);
    if (noRoom !== null) return noRoom;
    if (this.#isFullWith(bytes) && !this.#makeRoom(bytes, used)) return 'full';
    const owner = known ?? this.#add(organization);
    const item: Item<T> = { id, bytes, value, owner, before: null, after: null };
    owner.append(item);
    this.#items.set(id, item);
    this.#bytes += bytes;
    this.#largestShare = Math.max(this.#largestShare, used);
    return null;
  }

  /** Why `put` would certainly find no room for so many bytes; null when it may. */
  noRoomFor(organization: string, bytes: number): NoRoom | null {
    return this.#noRoomFor(this.#shareWith(this.#owners.get(organization), bytes), bytes);
  }

  /** `used` is what the organization would use. A flood asks this most, so it is cheap. */
  #noRoomFor(used: number, bytes: number): NoRoom | null {
    const { organizationShare } = this.#bounds;
    if (used > organizationShare && organizationShare < 1) return 'organization';
    return used >= this.#largestShare && this.#isFullWith(bytes) ? 'full' : null;
  }

  #shareWith(owner: Owner<T> | undefined, bytes: number): number {
    return this.#share((owner?.length ?? 0) + 1, (owner?.bytes ?? 0) + bytes);
  }

  #isFullWith(bytes: number): boolean {
    return this.#share(this.#items.size + 1, this.#bytes + bytes) > 1;
  }

  /** The part of the bounds that so much takes. */
  #share(requests: number, bytes: number): number {
    return Math.max(requests / this.#bounds.requests, bytes / this.#bounds.bytes);
  }

  /** Makes room for somebody who then uses `used`, at the cost of one who uses more even so. */
  #makeRoom(bytes: number, used: number): boolean {
    const largest = this.#largest();
    const evicted: Item<T>[] = [];
    let freedBytes = 0;
    let next = largest?.newest ?? null;
    while (this.#share(this.#items.size + 1 - evicted.length, this.#bytes + bytes - freedBytes) > 1) {
      if (largest === null || next === null) return false;
      if (this.#share(largest.length - evicted.length, largest.bytes - freedBytes) <= used) return false;
      evicted.push(next);
      freedBytes += next.bytes;
      next = next.before;
    }
    for (const item of evicted) {
      this.#remove(item);
      this.#onEvicted(item.value);
    }
    return true;
  }

  #add(name: string): Owner<T> {
    const owner = new Owner<T>(name);
    this.#owners.set(name, owner);
    this.#turns.push(owner);
    return owner;
  }

  #largest(): Owner<T> | null {
    let largest: Owner<T> | null = null;
    let most = 0;
    for (const owner of this.#owners.values()) {
      const share = this.#share(owner.length, owner.bytes);
      if (share <= most) continue;
      largest = owner;
      most = share;
    }
    this.#largestShare = most;
    return largest;
  }

  #remove(item: Item<T>): void {
    item.owner.remove(item);
    this.#items.delete(item.id);
    this.#bytes -= item.bytes;
    assert(this.#bytes >= 0 && item.owner.bytes >= 0, 'what leaves the queue was counted');
  }

  remove(id: number): boolean {
    const item = this.#items.get(id);
    if (item === undefined) return false;
    this.#remove(item);
    return true;
  }

  /** Whether something of an organization waits. */
  has(organization: string): boolean {
    return (this.#owners.get(organization)?.length ?? 0) > 0;
  }

  /** The next one of an organization that may have its turn; undefined when there is none. */
  take(mayTake: (organization: string) => boolean = always): T | undefined {
    if (this.#items.size === 0) return undefined;
    for (let passed = 0; passed <= this.#turns.length; ) {
      const next = this.#current ?? this.#turns.shift();
      const owner = defined(next, 'whoever has something in the queue has a turn');
      this.#current = null;
      const item = owner.oldest;
      if (item === null) {
        this.#owners.delete(owner.name);
      } else if (!mayTake(owner.name)) {
        passed++;
        this.#turns.push(owner);
      } else if (owner.deficit < item.bytes) {
        passed = 0;
        owner.deficit += turnBytes;
        this.#turns.push(owner);
      } else {
        owner.deficit -= item.bytes;
        this.#remove(item);
        this.#current = owner;
        return item.value;
      }
    }
    return undefined;
  }

  clear(each: (value: T) => void): void {
    for (let value = this.take(); value !== undefined; value = this.take()) each(value);
  }
}
