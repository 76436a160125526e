// What a shard leaves alone of its own tasks (expiries, deliveries, retention), because it needs something damaged: rows of
// the indexes in which the tasks are found. Each is told once, and tried again after the next start. The other tasks go on.

import { JournalDamaged } from '../journal/journal.ts';
import type { SetAside } from '../store/record-store.ts';

export class DamagedTasks implements SetAside {
  readonly #onDamage: (reason: string) => void;
  readonly #rows = new Set<string>();

  constructor(onDamage: (reason: string) => void) {
    this.#onDamage = onDamage;
  }

  has(index: string, sortKey: string): boolean {
    return this.#rows.size > 0 && this.#rows.has(`${index} ${sortKey}`);
  }

  add(index: string, sortKey: string, error: unknown): void {
    if (!(error instanceof JournalDamaged)) throw error;
    this.leave(index, sortKey);
    this.#onDamage(error.message);
  }

  /** The damage was told already. */
  leave(index: string, sortKey: string): void {
    this.#rows.add(`${index} ${sortKey}`);
  }
}
