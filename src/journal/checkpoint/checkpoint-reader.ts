// Reads a checkpoint from outside, as log-reader.ts reads the log: its writer is not disturbed, and
// a damaged page does no harm. The log's tools, the check of a folder and the scrubber use it.

import { defined, elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { dataFile } from '../../disk/environment.ts';
import { LmdbFile } from '../../disk/lmdb-file.ts';
import { FileDamage } from '../../disk/lmdb-pages.ts';
import { scan } from '../../disk/lmdb-scan.ts';
import { idsIn } from '../../domain/indexes.ts';
import type { Change } from '../../domain/record.ts';
import type { IndexRow } from '../../domain/view.ts';
import { JournalDamaged, unlessDamaged } from '../journal.ts';
import type { StateSource } from '../log-reader.ts';
import { unpackText } from '../records/packed-text.ts';
import { keyOfId, readRecord } from '../records/record-bytes.ts';
import { checkpointTables, segmentKey, sequenceKey } from './checkpoint-tables.ts';
import { numberBytes, readNumber, rowKey, valueBytesIn } from './index-keys.ts';
import type { IndexRowsOf } from './index-table.ts';
import { recordTableOf, recordTables } from './record-table.ts';
import type { TableRows } from './row-blocks.ts';

/** The most lists whose numbers and names are remembered. */
const listsMax = pieceSize(100_000);

export class CheckpointReader {
  readonly file: LmdbFile;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();

  /** Opens the checkpoint in a folder. Throws `FileDamage`. */
  constructor(folder: string) {
    this.file = new LmdbFile(dataFile(folder));
  }

  close(): void {
    this.file.close();
  }

  get sequence(): number {
    return this.file.get(checkpointTables.meta, sequenceKey)?.readDoubleLE(0) ?? 0;
  }

  /** The first sequence of the log's newest segment; 0 when none was noted. */
  get newestSegment(): number {
    return this.file.get(checkpointTables.meta, segmentKey)?.readDoubleLE(0) ?? 0;
  }

  metadata(name: string): Buffer | undefined {
    return this.file.get(checkpointTables.metadata, Buffer.from(name));
  }

  /** Undefined when there is none. Throws `JournalDamaged`. */
  record(id: string): Change | undefined {
    const key = keyOfId(id);
    const value = key === null ? undefined : this.file.get(recordTableOf(id), key);
    if (key === null || value === undefined) return undefined;
    const record = readRecord({ key, value });
    if (record !== null) return record;
    throw new JournalDamaged(`the record ${id} is not as it was written`);
  }

  /** The sound records of a table in the order of their making, after a key. */
  *recordsFrom(table: string, after: Buffer): Generator<Change> {
    for (const row of this.file.rows(table, { after })) {
      if (row instanceof FileDamage) continue;
      const record = readRecord({ key: row.key, value: row.read() });
      if (record !== null) yield record;
    }
  }

  /** The key of a row; null when its list has no number. */
  keyOf({ list, value, sortKey }: IndexRow): Buffer | null {
    let number = this.#numbers.get(list);
    if (number === undefined) {
      number = this.file.get(checkpointTables.lists, Buffer.from(list))?.readUInt32LE(0);
      if (number === undefined) return null;
      if (this.#numbers.size >= listsMax) this.#numbers.clear();
      this.#numbers.set(list, number);
    }
    return rowKey(numberBytes(number), value, sortKey);
  }

  /** The list and the sort key in the key of an index row; null when there is no such list. */
  rowAt(key: Buffer): { readonly list: string; readonly sortKey: string } | null {
    const { number, bytes } = readNumber(key);
    const list = this.#nameOf(number);
    if (list === undefined) return null;
    const start = bytes + (list.endsWith('=') ? valueBytesIn(key, bytes) : 0);
    return { list, sortKey: unpackText(key, start) };
  }

  /** Calls `each` with the key of every index row. Nothing may be written meanwhile. */
  eachIndexRow(each: (key: Buffer) => void): void {
    const table = checkpointTables.index;
    for (const _ of scan(this.file, table, (keys, start, end) => each(keys.subarray(start, end))));
  }

  /**
   * The rows that a record asks for and an index lacks, in words without the value of the index.
   */
  *missingRows({ id }: Change, rows: readonly IndexRow[]): Generator<string> {
    for (const row of rows) {
      const key = this.keyOf(row);
      if (key === null || this.file.get(checkpointTables.index, key) === undefined)
        yield `the record ${id} lacks its row in the index ${row.list}`;
    }
  }

  /** What is wrong with an index row, in words; null when its record asks for it, or is damaged. */
  strayRow(key: Buffer, indexRowsOf: IndexRowsOf): string | null {
    const row = this.rowAt(key);
    if (row === null) return `the index row ${key.toString('hex')} is of no list`;
    const { list, sortKey } = row;
    const id = idsIn(list)(sortKey);
    const what = `the index ${list} has the row ${sortKey}`;
    return (
      unlessDamaged(() => {
        const record = this.record(id);
        if (record === undefined) return `${what}, and there is no such record`;
        const isAsked = indexRowsOf(record).some((row) => this.keyOf(row)?.equals(key));
        return isAsked ? null : `${what}, which the record ${id} does not ask for`;
      }) ?? null
    );
  }

  /** Index rows come in this order: the names of those that follow are remembered, too. */
  #nameOf(number: number): string | undefined {
    const known = this.#names.get(number);
    if (known !== undefined) return known;
    this.#names.clear();
    for (const row of this.file.rows(checkpointTables.lists)) {
      if (row instanceof FileDamage) continue;
      const found = row.read().readUInt32LE(0);
      if (found >= number && found < number + listsMax) this.#names.set(found, row.key.toString());
    }
    return this.#names.get(number);
  }
}

/** Null when there is no checkpoint, or it is damaged there. */
export function checkpointSequenceIn(folder: string): number | null {
  return ifReadable(folder, (checkpoint) => checkpoint.sequence) ?? null;
}

/** As the checkpoint in a folder has it; 0 when it can't be told. */
export function newestSegmentIn(folder: string): number {
  return ifReadable(folder, (checkpoint) => checkpoint.newestSegment) ?? 0;
}

/** Undefined when there is none, or it is damaged there. */
export function metadataIn(folder: string, name: string): Buffer | undefined {
  return ifReadable(folder, (checkpoint) => checkpoint.metadata(name));
}

function ifReadable<T>(folder: string, read: (checkpoint: CheckpointReader) => T): T | undefined {
  try {
    const checkpoint = new CheckpointReader(folder);
    try {
      return read(checkpoint);
    } finally {
      checkpoint.close();
    }
  } catch (error) {
    if (error instanceof FileDamage || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The checkpoint in a folder as the history of an object needs it. Throws `FileDamage`. */
export function storedState(folder: string): StateSource {
  const checkpoint = new CheckpointReader(folder);
  return {
    sequence: checkpoint.sequence,
    *recordsFrom(id) {
      const record = checkpoint.record(id);
      if (record !== undefined) yield record;
      yield* checkpoint.recordsFrom(recordTables[1], historyStart(id));
    },
  };
}

/** Of rows of a table, those that `recordsFrom` gives. */
export function* recordsIn({ table, rows }: TableRows, id: string): Generator<Change> {
  const start = historyStart(id);
  for (let i = 0; i < rows.length; i += 2) {
    const [key, value] = [elementAt(rows, i), elementAt(rows, i + 1)];
    const isIts = table === recordTableOf(id) && key.equals(start);
    if (!isIts && (table !== recordTables[1] || key.compare(start) <= 0)) continue;
    const record = readRecord({ key, value });
    if (record !== null) yield record;
  }
}

function historyStart(id: string): Buffer {
  return defined(keyOfId(id), 'the history is of an id');
}
