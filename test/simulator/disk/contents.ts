// What an environment of the storage library holds: named tables of rows in the order of their keys. Contents never change:
// a transaction makes new ones, which share the tables that it left alone. So a reader keeps what it began to read.

/** Keys as texts whose order is the order of the library's keys; the texts of key bytes are their Latin-1 reading. */
export interface Table {
  readonly keys: readonly string[];
  readonly values: readonly Buffer[];
}

export interface Contents {
  /** By name; the environment's own table has none. */
  readonly tables: ReadonlyMap<string, Table>;
  /** Bytes of all keys and values. */
  readonly bytes: number;
}

export const emptyContents: Contents = { tables: new Map(), bytes: 0 };
const emptyTable: Table = { keys: [], values: [] };

export function tableOf(contents: Contents, name: string): Table {
  return contents.tables.get(name) ?? emptyTable;
}

/** The contents with another table of that name. */
export function withTable(contents: Contents, name: string, table: Table): Contents {
  return { ...contents, tables: new Map([...contents.tables, [name, table]]) };
}

/** What a row takes besides its key and value. */
const rowBytes = 16;
export const pageBytes = 4096;

/** The pages that contents take, about. */
export function pagesOf({ bytes }: Contents): number {
  return 4 + Math.ceil((bytes * 1.3) / pageBytes);
}

/** Where a key is, or would be. */
export function placeOf({ keys }: Table, key: string): number {
  let low = 0;
  let high = keys.length;
  // Most keys come last.
  if (high > 0 && keys[high - 1]! < key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function valueAt(table: Table, key: string): Buffer | undefined {
  const at = placeOf(table, key);
  return table.keys[at] === key ? table.values[at] : undefined;
}

interface Draft {
  readonly keys: string[];
  readonly values: Buffer[];
}

/** A write transaction: it sees what it has written. */
export class Transaction {
  readonly #before: Contents;
  readonly #drafts = new Map<string, Draft>();
  #bytes: number;

  constructor(before: Contents) {
    this.#before = before;
    this.#bytes = before.bytes;
  }

  table(name: string): Table {
    return this.#drafts.get(name) ?? tableOf(this.#before, name);
  }

  #draft(name: string): Draft {
    let draft = this.#drafts.get(name);
    if (draft === undefined) {
      const { keys, values } = tableOf(this.#before, name);
      draft = { keys: [...keys], values: [...values] };
      this.#drafts.set(name, draft);
    }
    return draft;
  }

  /** False when the row is to be appended and does not come last. */
  put(name: string, key: string, value: Buffer, mustComeLast: boolean): boolean {
    const draft = this.#draft(name);
    const at = placeOf(draft, key);
    if (mustComeLast && at < draft.keys.length) return false;
    if (draft.keys[at] === key) {
      this.#bytes += value.length - draft.values[at]!.length;
      draft.values[at] = value;
      return true;
    }
    this.#bytes += key.length + value.length + rowBytes;
    draft.keys.splice(at, 0, key);
    draft.values.splice(at, 0, value);
    return true;
  }

  remove(name: string, key: string): boolean {
    const draft = this.#draft(name);
    const at = placeOf(draft, key);
    if (draft.keys[at] !== key) return false;
    this.#bytes -= key.length + draft.values[at]!.length + rowBytes;
    draft.keys.splice(at, 1);
    draft.values.splice(at, 1);
    return true;
  }

  finish(): Contents {
    return { tables: new Map([...this.#before.tables, ...this.#drafts]), bytes: this.#bytes };
  }
}

/** The two header pages of a file, as far as src/disk/file-check.ts reads them: no tree has a root. */
export function firstBytes(contents: Contents): Buffer {
  const bytes = Buffer.alloc(2 * pageBytes);
  for (const start of [0, pageBytes]) {
    bytes.writeUInt16LE(0x08, start + 18);
    bytes.writeUInt32LE(0xbeefc0de, start + 24);
    bytes.writeUInt32LE(2, start + 28);
    bytes.writeUInt32LE(pageBytes, start + 48);
    for (const tree of [48, 96]) bytes.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, start + tree + 40);
    bytes.writeBigUInt64LE(BigInt(pagesOf(contents) - 1), start + 144);
  }
  return bytes;
}
