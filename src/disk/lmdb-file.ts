// Reads the rows of an LMDB file without the library: nothing is locked, so another process may be
// writing it, and a damaged page is a finding instead of the end of this process. For LMDB's data
// version 2 on little-endian machines. LMDB writes a page anew only when two commits have followed
// the one that is read, and every page names its commit. So a page that is not as expected, in a
// file that was committed to since, was reused: the rest is then read as of the newest commit.

import {
  childAt,
  FileDamage,
  headerBytes,
  keyAt,
  LmdbPages,
  nodeAt,
  noPage,
  type Snapshot,
  slotsIn,
  type Tree,
  tableAt,
  treeAt,
  valueAt,
} from './lmdb-pages.ts';

/** A page that is still not as expected after this many commits is damaged. */
const movesMax = 8;

export interface FileRow {
  readonly key: Buffer;
  readonly length: number;
  /** The byte of the file at which the value begins. */
  readonly at: number;
  /** The value, or its beginning: a copy. Throws `FileDamage` when its pages are overwritten. */
  read(lengthMax?: number): Buffer;
}

interface RowRange {
  /** Only keys greater than this one, or smaller when `reverse`. */
  readonly after?: Buffer | undefined;
  readonly reverse?: boolean;
}

interface WalkRange {
  readonly from: Buffer | undefined;
  readonly reverse: boolean;
  /** The commit whose pages are read: later ones have reused pages. */
  readonly commit: bigint;
}

/** The file was committed to since, and a page was reused. */
class Moved extends Error {}

export class LmdbFile {
  readonly pages: LmdbPages;
  #snapshot: Snapshot;
  #moves = 0;

  /** Throws `FileDamage` when the header pages are damaged. */
  constructor(path: string) {
    this.pages = new LmdbPages(path);
    try {
      this.#snapshot = this.pages.newest();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get path(): string {
    return this.pages.path;
  }

  get bytes(): number {
    return this.pages.bytes;
  }

  close(): void {
    this.pages.close();
  }

  /** Reads the newest commit from here on. Throws `FileDamage`. */
  refresh(): void {
    this.#snapshot = this.pages.newest();
    this.#moves = 0;
  }

  /** Undefined when there is none. Throws `FileDamage`. */
  get(table: string | null, key: Buffer): Buffer | undefined {
    return this.#lookUp(() => this.#find(table, key)?.read());
  }

  /** The names of its tables. Throws `FileDamage`. */
  tables(): string[] {
    return this.#lookUp(() => [...this.#tableRows(undefined)].map(({ key }) => nameOf(key)));
  }

  #lookUp<T>(find: () => T): T {
    for (;;) {
      try {
        const found = find();
        this.#moves = 0;
        return found;
      } catch (error) {
        if (error instanceof Moved) this.#follow();
        else if (!(error instanceof FileDamage) || !this.#hasMoved()) throw error;
      }
    }
  }

  #find(table: string | null, key: Buffer): FileRow | undefined {
    const { commit } = this.#snapshot;
    const tree = this.#treeOf(table);
    if (tree === null) return undefined;
    for (const row of this.#walk(tree.root, tree.depth, { from: key, reverse: false, commit })) {
      if (row instanceof FileDamage) throw row;
      return row.key.equals(key) ? row : undefined;
    }
    return undefined;
  }

  /**
   * The rows of a table, or of the file's own (null), in the order of their keys, and each damaged
   * page in its place. A table that does not exist has none.
   */
  *rows(table: string | null, { after, reverse = false }: RowRange = {}): Generator<FileRow | FileDamage> {
    let last = after;
    for (;;) {
      try {
        const { commit } = this.#snapshot;
        const tree = this.#treeOf(table);
        if (tree === null) return;
        const range = { from: last, reverse, commit };
        for (const row of this.#walk(tree.root, tree.depth, range)) {
          if (row instanceof FileDamage) yield row;
          else if (last === undefined || !row.key.equals(last)) {
            yield this.#lasting(table, row);
            last = row.key;
            this.#moves = 0;
          }
        }
        this.#moves = 0;
        return;
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
        this.#follow();
      }
    }
  }

  /** Its value may have moved when it is read, and is then looked up again; empty: it is gone. */
  #lasting(table: string | null, { key, length, at, read }: FileRow): FileRow {
    return {
      key,
      length,
      at,
      read: (lengthMax) => {
        try {
          return read(lengthMax);
        } catch (error) {
          if (!(error instanceof FileDamage)) throw error;
          this.#snapshot = this.pages.newest();
          return (this.get(table, key) ?? Buffer.alloc(0)).subarray(0, lengthMax);
        }
      },
    };
  }

  #follow(): void {
    this.#moves++;
    this.#snapshot = this.pages.newest();
  }

  /** Whether there was a commit since, and what is not as expected may be the trace of it. */
  #hasMoved(): boolean {
    if (this.#moves >= movesMax || this.pages.newest().commit === this.#snapshot.commit) return false;
    this.#follow();
    return true;
  }

  /** A table's tree as of the commit that is read; null when there is none. Throws `FileDamage`. */
  tree(table: string): { readonly tree: Tree; readonly commit: bigint } | null {
    return this.#lookUp(() => {
      const tree = this.#treeOf(table);
      return tree && { tree, commit: this.#snapshot.commit };
    });
  }

  /** The tree of a table; null when there is none. Throws `Moved`, or `FileDamage`. */
  #treeOf(table: string | null): Tree | null {
    if (table === null) return this.#snapshot.main;
    for (const row of this.#tableRows(Buffer.from(table)))
      return nameOf(row.key) === table ? treeAt(row.read(), 0) : null;
    return null;
  }

  /** The rows of tables, from a name on. Throws `Moved`, or `FileDamage`. */
  *#tableRows(from: Buffer | undefined): Generator<FileRow> {
    const { main, commit } = this.#snapshot;
    for (const row of this.#walk(main.root, main.depth, { from, reverse: false, commit }, true)) {
      if (row instanceof FileDamage) throw row;
      yield row;
    }
  }

  /** The rows below a page from `from` on, in the order asked for. Throws `Moved`. */
  *#walk(
    number: bigint,
    height: number,
    range: WalkRange,
    withTables = false,
  ): Generator<FileRow | FileDamage> {
    if (number === noPage) return;
    const { from, reverse, commit } = range;
    const page = this.pages.page(number, height, commit);
    if (page instanceof FileDamage) {
      if (this.#moves < movesMax && this.pages.newest().commit !== commit) throw new Moved();
      yield page;
      return;
    }
    const slots = slotsIn(page);
    const [first, last] = this.#slotsWithin(page, slots, height, from, reverse);
    for (let i = 0; i <= last - first; i++) {
      const start = nodeAt(page, reverse ? last - i : first + i);
      if (height > 1) {
        yield* this.#walk(childAt(page, start), height - 1, range, withTables);
        continue;
      }
      if ((tableAt(page, start) !== null) === withTables) yield this.#row(page, number, start, commit);
    }
  }

  /** The slots of a page that may lead to keys from `from` on, or before it when `reverse`. */
  #slotsWithin(
    page: Buffer,
    slots: number,
    height: number,
    from: Buffer | undefined,
    reverse: boolean,
  ): [first: number, last: number] {
    if (from === undefined) return [0, slots - 1];
    // A branch's first key is left out: it is before all others.
    const lowest = height > 1 ? 1 : 0;
    let low = lowest;
    for (let high = slots; low < high; ) {
      const middle = (low + high) >> 1;
      if (keyAt(page, nodeAt(page, middle)).compare(from) < 0) low = middle + 1;
      else high = middle;
    }
    // `low` is now the first slot whose key is not before `from`.
    if (reverse) return [0, low - 1];
    const isAtStart = height === 1 || (low < slots && keyAt(page, nodeAt(page, low)).equals(from));
    return [isAtStart ? low : low - 1, slots - 1];
  }

  #row(page: Buffer, number: bigint, start: number, commit: bigint): FileRow {
    const { length, at: data, overflow } = valueAt(page, start);
    const key = keyAt(page, start);
    if (overflow !== null) {
      const at = Number(overflow) * this.pages.pageSize + headerBytes;
      const read = (lengthMax = length) => this.pages.overflow(overflow, commit, length, lengthMax);
      return { key, length, at, read };
    }
    const at = Number(number) * this.pages.pageSize + data;
    const read = (lengthMax = length) => Buffer.from(page.subarray(data, data + Math.min(length, lengthMax)));
    return { key, length, at, read };
  }
}

function nameOf(key: Buffer): string {
  return key.toString('utf8', 0, key.at(-1) === 0 ? key.length - 1 : key.length);
}
