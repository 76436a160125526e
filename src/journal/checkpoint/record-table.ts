// The records of the checkpoint, by their keys (see record-bytes.ts). New records come last, so
// they are appended and fill their pages. Records that never change have a table of their own,
// whose pages stay full.

import { idPrefixes } from '../../contract/id-prefixes.ts';
import { assert, elementAt } from '../../core/assert.ts';
import { type Environment, openTable, rowsIn, type Table } from '../../disk/environment.ts';
import type { Change } from '../../domain/record.ts';
import {
  decodeRecord,
  type EncodedRecord,
  idOfEncoded,
  isRemoved,
  isSound,
  keyOfId,
} from '../records/record-bytes.ts';
import { checkpointTables } from './checkpoint-tables.ts';
import type { Read } from './index-table.ts';

const readRecordsMax = 1_000;
const beforeAll = Buffer.alloc(0);
const unchanging: ReadonlySet<string> = new Set([idPrefixes.event, idPrefixes.attempt]);

/** The tables by their names: records that change, and those that never do. */
export const recordTables = [checkpointTables.records, checkpointTables.unchanging] as const;

export function recordTableOf(id: string): (typeof recordTables)[number] {
  return recordTables[unchanging.has(id.slice(0, id.indexOf('_'))) ? 1 : 0];
}

export type OnDamage = (id: string, error: Error) => void;

const rethrow: OnDamage = (_id, error) => {
  throw error;
};

interface Gathered {
  readonly encodedRecords: EncodedRecord[];
  last: Buffer;
  /** The last one comes after all of the table. */
  isNew: boolean;
  isSorted: boolean;
}

export class RecordTables {
  readonly #changing: Table;
  readonly #unchanging: Table;
  readonly #read: Read;
  readonly #damaged: (defect: string) => Error;
  /** The key of the newest record of each table, once it is needed. */
  readonly #newest = new Map<Table, Buffer>();
  readonly #gathered = new Map<Table, Gathered>();

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

  /**
   * Gathers a record to write or to remove. Returns the value that it replaces, valid until the
   * next read.
   */
  change(id: string, key: Buffer, encoded: EncodedRecord): Buffer | undefined {
    const table = this.#tableOf(id);
    let gathered = this.#gathered.get(table);
    if (gathered === undefined) {
      gathered = { encodedRecords: [], last: this.#newestOf(table), isNew: true, isSorted: true };
      this.#gathered.set(table, gathered);
    }
    const follows = key.compare(gathered.last) > 0;
    if (!follows && gathered.encodedRecords.length > 0) gathered.isSorted = false;
    gathered.isNew = (follows && gathered.isNew) || key.compare(this.#newestOf(table)) > 0;
    gathered.last = key;
    gathered.encodedRecords.push(encoded);
    return gathered.isNew ? undefined : this.#valueOf(table, key, id);
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

  write(): void {
    for (const [table, { encodedRecords, isSorted }] of this.#gathered) {
      if (!isSorted) encodedRecords.sort((a, b) => a.key.compare(b.key));
      let newest = this.#newestOf(table);
      // Those that come after all others are at the end.
      let isNew = false;
      for (const encoded of encodedRecords) {
        const { key, value } = encoded;
        isNew ||= key.compare(newest) > 0;
        if (isRemoved({ key, value })) table.removeSync(key);
        else if (!isNew) table.putSync(key, value);
        else {
          assert(table.putSync(key, value, { append: true }), 'a key after the newest comes last');
          newest = key;
        }
      }
      this.#newest.set(table, Buffer.from(newest));
    }
    this.#gathered.clear();
  }
}

/** The `length` of the library's buffer is not the buffer's length. A view has the right one. */
function view(bytes: Buffer): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
