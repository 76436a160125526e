// A first-in first-out queue for mailboxes. Pushing and shifting cost the same at any length.

/** How many values that were read stay in the list before it is shortened. */
const readMax = 256;

export class FixedQueue<T> {
  #values: (T | undefined)[] = [];
  /** The position of the oldest value. */
  #first = 0;

  get length(): number {
    return this.#values.length - this.#first;
  }

  push(value: T): void {
    this.#values.push(value);
  }

  /** Removes and returns the oldest value; undefined when the queue is empty. */
  shift(): T | undefined {
    const values = this.#values;
    if (this.#first === values.length) return undefined;
    const value = values[this.#first];
    values[this.#first++] = undefined;
    if (this.#first === values.length) {
      this.#first = 0;
      if (values.length > readMax) this.#values = [];
      else values.length = 0;
    } else if (this.#first > readMax && this.#first * 2 > values.length) {
      this.#values = values.slice(this.#first);
      this.#first = 0;
    }
    return value;
  }

  /** The values, oldest first. Nothing may be added or removed meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    for (const value of this.#values.slice(this.#first)) if (value !== undefined) yield value;
  }
}
