// What a shard finds to do by itself in its indexes: expiries, deliveries, retention. A task that
// needs something damaged is told once and stays in quarantine until the next start.

import { type DueRecord, dueKey, dueRecords, nextDueMs } from '../domain/due.ts';
import { dueIndex } from '../domain/indexes.ts';
import type { Change, StoredRecord } from '../domain/record.ts';
import type { ScanRange, View } from '../domain/view.ts';
import { JournalDamaged } from '../journal/journal.ts';
import type { Quarantine, RecordStore } from '../store/record-store.ts';

export class Tasks implements Pick<View, 'scan'>, Quarantine {
  readonly #records: RecordStore;
  readonly #onDamage: (reason: string) => void;
  readonly #quarantined = new Set<string>();
  /** By index, the sort key up to which everything is done. */
  readonly #done = new Map<string, string>();
  #dueMs = 0;

  constructor(records: RecordStore, onDamage: (reason: string) => void) {
    this.#records = records;
    this.#onDamage = onDamage;
  }

  /** Forward, it begins behind what is done. */
  scan(index: string, range: ScanRange): Iterable<StoredRecord> {
    const { after = this.#done.get(index), descending } = range;
    return this.#records.scan(index, descending ? range : { ...range, after }, this);
  }

  /**
   * Everything in an index up to this sort key is done. The checkpoint has these rows until it is
   * written again, so a scan that began with them would be longer with each task.
   */
  done(index: string, sortKey: string): void {
    this.#done.set(index, sortKey);
  }

  has(index: string, sortKey: string): boolean {
    return this.#quarantined.size > 0 && this.#quarantined.has(`${index} ${sortKey}`);
  }

  add(index: string, sortKey: string, error: unknown): void {
    if (!(error instanceof JournalDamaged)) throw error;
    this.leave(index, sortKey);
    this.#onDamage(error.message);
  }

  /** Leaves a task alone whose damage was told already. */
  leave(index: string, sortKey: string): void {
    this.#quarantined.add(`${index} ${sortKey}`);
  }

  /** No charge and no session is due before this, in service time. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Called with every change as it is applied. */
  observe(change: Change): void {
    if (change.kind !== 'charge' && change.kind !== 'checkout_session') return;
    if (change.status !== 'pending' && change.status !== 'open') return;
    this.#dueMs = Math.min(this.#dueMs, change.due_at_ms);
    const done = this.#done.get(dueIndex);
    if (done !== undefined && dueKey(change) <= done) this.#done.delete(dueIndex);
  }

  /** The charges and sessions that are due, oldest first, `count` at most. */
  due(serviceMs: number, count: number): DueRecord[] {
    return dueRecords(this, serviceMs, count);
  }

  /** All that was due is dealt with: looks up what is due next. */
  lookAhead(): void {
    this.#dueMs = nextDueMs(this);
  }
}
