// The records of the checkpoint, by their keys (see record-bytes.ts). New records come last, so
// they are appended and fill their pages. Records that never change have a table of their own,
// whose pages stay full.

import { kindOfId } from '../../contract/id-prefixes.ts';
import { assert, elementAt } from '../../core/assert.ts';
import { pieceSize } from '../../core/piece-size.ts';
import { type Environment, openTable, rowsIn, type Table } from '../../disk/environment.ts';
import type { Change, RecordKind } from '../../domain/record.ts';
import {
  decodeRecord,
  type EncodedRecord,
  idOfEncoded,
  isRemoved,
  isSound,
  keyOfId,
  kindOfEncoded,
} from '../records/record-bytes.ts';
import { checkpointTables } from './checkpoint-tables.ts';
import type { Read } from './index-table.ts';

const readRecordsMax = pieceSize(1_000);
const beforeAll = Buffer.alloc(0);
const unchanging: ReadonlySet<string | undefined> = new Set<RecordKind>(['event', 'attempt']);

/** The tables by their names: records that change, and those that never do. */
export const recordTables = [checkpointTables.records, checkpointTables.unchanging] as const;

export function recordTableOf(id: string): (typeof recordTables)[number] {
  return recordTables[unchanging.has(kindOfId(id)) ? 1 : 0];
}

export type OnDamage = (id: string, error: Error) => void;

const rethrow: OnDamage = (_id, error) => {
  throw error;
};

export class RecordTables {
  readonly #changing: Table;
  readonly #unchanging: Table;
  readonly #read: Read;
  readonly #damaged: (defect: string) => Error;
  /** The key of the newest record of each table, once it is needed. */
  readonly #newest = new Map<Table, Buffer>();

  /** `damaged` makes the error for a damaged record. */
  constructor(environment: Environment, read: Read, damaged: (defect: string) => Error) {
    this.#changing = openTable(environment, recordTables[0]);
    this.#unchanging = openTable(environment, recordTables[1]);
    this.#read = read;
    this.#damaged = damaged;
  }

  #tableOf(id: string): Table {
    return recordTableOf(id) === recordTables[0] ? this.#changing : this.#unchanging;
  }

  #tableOfEncoded(encoded: EncodedRecord): Table {
    return unchanging.has(kindOfEncoded(encoded)) ? this.#unchanging : this.#changing;
  }

  get(id: string): Change | undefined {
    const key = keyOfId(id);
    if (key === null) return undefined;
    const table = this.#tableOf(id);
    const value = this.#valueOf(table, key, id);
    if (value !== undefined) return decodeRecord(id, value);
    this.#refuseHidden(table, key);
    return undefined;
  }

  /** A damaged key is not found, and may hide its neighbours: then nobody knows what is there. */
  #refuseHidden(table: Table, key: Buffer): void {
    for (const reverse of [false, true]) {
      const [row] = this.#read(() => [...table.getRange({ start: key, limit: 1, reverse })]);
      if (row === undefined) continue;
      const encoded = { key: Buffer.from(row.key), value: row.value };
      if (!isSound(encoded)) throw this.#unsound(idOfEncoded(encoded));
    }
  }

  /** The bytes are valid until the next read. */
  #valueOf(table: Table, key: Buffer, id: string): Buffer | undefined {
    const bytes = this.#read(() => table.getBinaryFast(key));
    if (bytes === undefined) return undefined;
    const value = view(bytes);
    if (!isSound({ key, value })) throw this.#unsound(id);
    return value;
  }

  #unsound(id: string): Error {
    return this.#damaged(`the record ${id} is not as it was written`);
  }

  get count(): number {
    const tables = [this.#changing, this.#unchanging];
    return this.#read(() => tables.reduce((sum, table) => sum + rowsIn(table), 0));
  }

  /**
   * Every record in order, those that never change last. Throws at a damaged one, unless `onDamage`
   * takes it.
   */
  *all(onDamage: OnDamage = rethrow): Generator<EncodedRecord> {
    for (const table of [this.#changing, this.#unchanging]) {
      // In portions: the caller may wait in between, which ends a read transaction.
      for (let last: Uint8Array = beforeAll; ; ) {
        const range = { start: last, exclusiveStart: true, limit: readRecordsMax };
        const rows = this.#read(() => [...table.getRange(range)]);
        for (const row of rows) {
          const encoded = { key: Buffer.from(row.key), value: row.value };
          if (isSound(encoded)) yield encoded;
          else onDamage(idOfEncoded(encoded), this.#unsound(idOfEncoded(encoded)));
        }
        if (rows.length < readRecordsMax) break;
        last = elementAt(rows, rows.length - 1).key;
      }
    }
  }

  /** The value that a record has before it is written. It is valid until the next read. */
  before(id: string, encoded: EncodedRecord): Buffer | undefined {
    const { key } = encoded;
    const table = this.#tableOfEncoded(encoded);
    return key.compare(this.#newestOf(table)) > 0 ? undefined : this.#valueOf(table, key, id);
  }

  #newestOf(table: Table): Buffer {
    let newest = this.#newest.get(table);
    if (newest === undefined) {
      const [key] = this.#read(() => [...table.getKeys({ reverse: true, limit: 1 })]);
      newest = key === undefined ? beforeAll : Buffer.from(key);
      this.#newest.set(table, newest);
    }
    return newest;
  }

  /** Writes the records, or removes them. Those that come after all others go to the end. */
  write(records: Iterable<EncodedRecord>): void {
    for (const encoded of records) {
      // A record in a commit batch makes a new view each time it is asked.
      const views = { key: encoded.key, value: encoded.value };
      const { key, value } = views;
      const table = this.#tableOfEncoded(views);
      if (isRemoved(views)) table.removeSync(key);
      else if (key.compare(this.#newestOf(table)) <= 0) table.putSync(key, value);
      else {
        assert(table.putSync(key, value, { append: true }), 'a key after the newest comes last');
        this.#newest.set(table, key);
      }
    }
    // They are views of what the caller lets go.
    for (const [table, key] of this.#newest) this.#newest.set(table, Buffer.from(key));
  }
}

/** The `length` of the library's buffer is not the buffer's length. A view has the right one. */
function view(bytes: Buffer): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
