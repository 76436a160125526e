// A first-in first-out queue for mailboxes, made of a chain of rings of a fixed size. The cost of pushing and shifting does
// not depend on the length. A short queue reuses one ring; the rings of a burst are garbage once they are read.

const ringSize = 256;

interface Ring<T> {
  readonly slots: (T | undefined)[];
  /** The position of the oldest value. */
  first: number;
  count: number;
  next: Ring<T> | null;
}

function createRing<T>(): Ring<T> {
  return { slots: new Array<T | undefined>(ringSize).fill(undefined), first: 0, count: 0, next: null };
}

export class FixedQueue<T> {
  #head: Ring<T> = createRing();
  #tail: Ring<T> = this.#head;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds `value` at the end. */
  push(value: T): void {
    let ring = this.#tail;
    if (ring.count === ringSize) {
      ring = createRing();
      this.#tail.next = ring;
      this.#tail = ring;
    }
    ring.slots[(ring.first + ring.count) % ringSize] = value;
    ring.count++;
    this.#length++;
  }

  /** Removes and returns the oldest value; undefined when the queue is empty. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const ring = this.#head;
    const value = ring.slots[ring.first];
    ring.slots[ring.first] = undefined;
    ring.first = (ring.first + 1) % ringSize;
    ring.count--;
    this.#length--;
    if (ring.count === 0 && ring.next !== null) this.#head = ring.next;
    return value;
  }

  /** The values, oldest first. Nothing may be added or removed meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    for (let ring: Ring<T> | null = this.#head; ring !== null; ring = ring.next)
      for (let i = 0; i < ring.count; i++) yield ring.slots[(ring.first + i) % ringSize]!;
  }
}
