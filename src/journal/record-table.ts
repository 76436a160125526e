// The records of the checkpoint. A key is the id with its prefix at the end, packed (see index-keys.ts): records lie in the
// order in which they were made, whatever their kind, so new ones are appended and fill their pages. What never changes
// has a table of its own: there, pages stay full.

import { idPrefixes } from '../contract/id-prefixes.ts';
import { assert } from '../core/assert.ts';
import type { Change } from '../domain/record.ts';
import { type Environment, openTable, rowsIn, type Table } from './environment.ts';
import { packText, unpackText } from './index-keys.ts';
import type { Read } from './index-table.ts';
import { decodeRecord } from './record-layout.ts';

const readRecordsMax = 1_000;
const idLengthMax = 100;
const beforeAll = Buffer.alloc(0);
/** The prefixes of events and of delivery attempts. */
const unchanging: ReadonlySet<string> = new Set([idPrefixes.event, idPrefixes.attempt]);

/** Hears of a record that is damaged. */
export type OnDamage = (id: string, error: Error) => void;

const rethrow: OnDamage = (_id, error) => {
  throw error;
};

/** A record as it is to be written. */
export interface RecordRow {
  readonly id: string;
  /** Null: it is removed. */
  readonly bytes: Buffer | null;
}

interface KeyedRow extends RecordRow {
  /** The id, its prefix last. */
  readonly turned: string;
}

export class RecordTables {
  readonly #changing: Table;
  readonly #unchanging: Table;
  readonly #read: Read;
  readonly #damaged: (defect: string) => Error;
  /** The newest record of each table, once that matters. */
  readonly #newest = new Map<Table, string>();
  readonly #gathered = new Map<Table, KeyedRow[]>();

  /** `damaged` makes the error to throw for what is not as it was written. */
  constructor(environment: Environment, read: Read, damaged: (defect: string) => Error) {
    this.#changing = openTable(environment, 'records');
    this.#unchanging = openTable(environment, 'unchanging');
    this.#read = read;
    this.#damaged = damaged;
  }

  #tableOf(turned: string): Table {
    return unchanging.has(turned.slice(turned.lastIndexOf('_') + 1)) ? this.#unchanging : this.#changing;
  }

  get(id: string): Change | undefined {
    // Whoever reads may ask for any text.
    const turned = id.length > idLengthMax ? '' : turn(id);
    const key = packText(turned);
    if (key === null || key.length === 0) return undefined;
    const table = this.#tableOf(turned);
    return this.#read(() => {
      const bytes = table.getBinaryFast(key);
      return bytes === undefined ? undefined : this.#decode(id, view(bytes));
    });
  }

  #decodeUnless(id: string, bytes: Buffer, onDamage: OnDamage): Change | null {
    try {
      return this.#decode(id, bytes);
    } catch (error) {
      onDamage(id, error as Error);
      return null;
    }
  }

  #decode(id: string, bytes: Buffer): Change {
    const record = decodeRecord(bytes);
    if (record?.id === id) return record;
    throw this.#damaged(`the record ${id} is not as it was written`);
  }

  /** How many records there are. */
  get count(): number {
    const tables = [this.#changing, this.#unchanging];
    return this.#read(() => tables.reduce((sum, table) => sum + rowsIn(table), 0));
  }

  /**
   * Every record, in the order in which they were made, those that never change last. One that is damaged is thrown,
   * or left out when `onDamage` takes it.
   */
  *all(onDamage: OnDamage = rethrow): Generator<Change> {
    for (const table of [this.#changing, this.#unchanging]) {
      // Some at a time: whoever asks may wait in between, and a read transaction of the library ends then.
      for (let last: Uint8Array = beforeAll; ; ) {
        const range = { start: last, exclusiveStart: true, limit: readRecordsMax };
        const rows = this.#read(() => [...table.getRange(range)]);
        for (const { key, value } of rows) {
          const record = this.#decodeUnless(turnBack(unpackText(key)), value, onDamage);
          if (record !== null) yield record;
        }
        if (rows.length < readRecordsMax) break;
        last = rows.at(-1)!.key;
      }
    }
  }

  /** Gathers a row to write; returns the record that it replaces. */
  change(row: RecordRow): Change | undefined {
    const turned = turn(row.id);
    assert(turned !== '', `${row.id} is an id`);
    const table = this.#tableOf(turned);
    const rows = this.#gathered.get(table);
    if (rows === undefined) this.#gathered.set(table, [{ ...row, turned }]);
    else rows.push({ ...row, turned });
    // What comes later than all others was never stored.
    return turned > this.#newestOf(table) ? undefined : this.get(row.id);
  }

  #newestOf(table: Table): string {
    let newest = this.#newest.get(table);
    if (newest === undefined) {
      const [key] = this.#read(() => [...table.getKeys({ reverse: true, limit: 1 })]);
      newest = key === undefined ? '' : unpackText(key);
      this.#newest.set(table, newest);
    }
    return newest;
  }

  /** Writes what was gathered, within a transaction. */
  write(): void {
    for (const [table, rows] of this.#gathered) {
      // Most come in order already, which sorting makes use of.
      rows.sort((a, b) => (a.turned < b.turned ? -1 : 1));
      let newest = this.#newestOf(table);
      for (const { turned, bytes } of rows) {
        const key = packText(turned)!;
        if (bytes === null) table.removeSync(key);
        else if (turned <= newest) table.putSync(key, bytes);
        else {
          assert(table.putSync(key, bytes, { append: true }), `${turned} comes last`);
          newest = turned;
        }
      }
      this.#newest.set(table, newest);
    }
    this.#gathered.clear();
  }
}

/** The id with its prefix last; empty when it can't be an id. */
function turn(id: string): string {
  const end = id.indexOf('_');
  return end < 1 || /[^0-9A-Z_a-z]/.test(id) ? '' : `${id.slice(end + 1)}_${id.slice(0, end)}`;
}

function turnBack(turned: string): string {
  const end = turned.lastIndexOf('_');
  return `${turned.slice(end + 1)}_${turned.slice(0, end)}`;
}

/** What the library lends until its next read: its own buffer, with a property `length` that is not the buffer's. */
function view(bytes: Buffer): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
