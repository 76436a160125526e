// The locks on rows in a simulated PostgreSQL: a transaction keeps them until it is over, and others wait in turn.

import type { Lock } from './statements.ts';

interface Waiting {
  readonly locks: readonly Lock[];
  readonly granted: () => void;
}

export class Locks {
  /** By row: the transactions that have it, shared or alone. */
  readonly #held = new Map<string, { count: number; readonly isShared: boolean }>();
  readonly #waiting: Waiting[] = [];

  /** `granted` is called, perhaps at once, when all of them are free. */
  take(locks: readonly Lock[], granted: () => void): void {
    this.#waiting.push({ locks, granted });
    this.#grant();
  }

  release(locks: readonly Lock[]): void {
    for (const { row } of locks) {
      const held = this.#held.get(row)!;
      if (--held.count === 0) this.#held.delete(row);
    }
    this.#grant();
  }

  #grant(): void {
    // Whoever came later does not pass by one that waits for the same row.
    const wanted = new Set<string>();
    for (const waiting of [...this.#waiting]) {
      // What was granted may have given its locks back, and others have theirs since.
      if (!this.#waiting.includes(waiting)) continue;
      const { locks } = waiting;
      const isFree = locks.every(({ row, isShared }) => {
        const held = this.#held.get(row);
        return !wanted.has(row) && (held === undefined || (held.isShared && isShared));
      });
      if (!isFree) {
        for (const { row } of locks) wanted.add(row);
        continue;
      }
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      for (const { row, isShared } of locks) {
        const held = this.#held.get(row);
        if (held === undefined) this.#held.set(row, { count: 1, isShared });
        else held.count++;
      }
      waiting.granted();
    }
  }
}
