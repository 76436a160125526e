// A checkpoint, of a data folder or of a backup, as the history of an object needs it: the object's record, and the records
// that were made after it and never change, among which are its events.

import type { Change } from '../../domain/record.ts';
import type { StateSource } from '../log/log-reader.ts';
import { keyOfId, readRecord } from '../records/record-frame.ts';
import { CheckpointReader } from './checkpoint-reader.ts';
import { recordTableOf, recordTables } from './record-table.ts';

export class StoredState implements StateSource {
  readonly #checkpoint: CheckpointReader;

  /** Opens the checkpoint in a folder. Throws `FileDamage`. */
  constructor(folder: string) {
    this.#checkpoint = new CheckpointReader(folder);
  }

  get sequence(): number {
    return this.#checkpoint.sequence;
  }

  *recordsFrom(id: string): Generator<Change> {
    const record = this.#checkpoint.record(id);
    if (record !== undefined) yield record;
    yield* this.#checkpoint.recordsFrom(recordTables[1], keyOfId(id)!);
  }

  /** Of rows of a table, keys and values by turns, those that `recordsFrom` gives. */
  static *recordsIn(table: string, rows: readonly Buffer[], id: string): Generator<Change> {
    const start = keyOfId(id)!;
    for (let i = 0; i < rows.length; i += 2) {
      const [key, value] = [rows[i]!, rows[i + 1]!];
      const isIts = table === recordTableOf(id) && key.equals(start);
      if (!isIts && (table !== recordTables[1] || key.compare(start) < 0)) continue;
      const record = readRecord({ key, value });
      if (record !== null) yield record;
    }
  }
}
