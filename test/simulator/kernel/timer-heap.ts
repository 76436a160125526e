// Timers by their time, and those of the same time in the order in which they were set.

interface Timer<T> {
  readonly atMs: number;
  readonly order: number;
  readonly value: T;
  isTakenBack: boolean;
}

export class TimerHeap<T> {
  readonly #heap: Timer<T>[] = [];
  #order = 0;

  /** Returns the function that takes the timer back. */
  add(atMs: number, value: T): () => void {
    const timer: Timer<T> = { atMs, order: this.#order++, value, isTakenBack: false };
    this.#heap.push(timer);
    let at = this.#heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, this.#heap[parent]!)) break;
      this.#heap[at] = this.#heap[parent]!;
      at = parent;
    }
    this.#heap[at] = timer;
    return () => {
      timer.isTakenBack = true;
    };
  }

  /** The next timer, which `take` takes. */
  get next(): { readonly atMs: number; readonly value: T } | undefined {
    while (this.#heap[0]?.isTakenBack) this.take();
    return this.#heap[0];
  }

  take(): void {
    const last = this.#heap.pop()!;
    const { length } = this.#heap;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(this.#heap[child + 1]!, this.#heap[child]!)) child++;
      if (!isBefore(this.#heap[child]!, last)) break;
      this.#heap[at] = this.#heap[child]!;
      at = child;
    }
    this.#heap[at] = last;
  }
}

function isBefore(a: Timer<unknown>, b: Timer<unknown>): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
