// Reads the rows of an LMDB file by reading the file, without the library: nothing is locked or registered, so another
// process may be writing it, and a damaged page is a finding with its place instead of the end of this process. Called by
// whatever looks at a log or a checkpoint from outside, and by the scrubber. For LMDB's data version 2 on little-endian
// machines, like page-check.ts.
//
// A file that is written meanwhile: LMDB writes a page anew only when two commits have followed the one that is read here,
// and every page says which commit wrote it. So a page that is not as expected, in a file that has been committed to since,
// was reused: the rest is then read as of the newest commit.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { JournalDamaged } from './journal.ts';
import {
  bigDataFlag,
  branchFlag,
  dataVersion,
  headerBytes,
  leafFlag,
  metaFlag,
  nodeHeaderBytes,
  noPage,
  overflowFlag,
  subDatabaseFlag,
} from './lmdb-format.ts';

const magic = 0xbeefc0de;
const metaBytes = 176;
const depthMax = 32;
/** A page that is not as expected after so many commits is damaged. */
const movesMax = 8;
const pageSizes: readonly number[] = [4096, 8192, 16384, 32768, 65536];

/** A row as it lies in the file. */
export interface FileRow {
  readonly key: Buffer;
  readonly length: number;
  /** The byte of the file at which the value begins. */
  readonly at: number;
  /** The value, or its first `lengthMax` bytes: a copy. Throws `FileDamage` when its pages are overwritten. */
  read(lengthMax?: number): Buffer;
}

/** A place of the file that is not as LMDB wrote it. */
export class FileDamage extends JournalDamaged {
  override name = 'FileDamage';
  /** The byte of the file at which the damaged page begins. */
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

export interface RowRange {
  /** Only keys greater than this one, or smaller when `reverse`. */
  readonly after?: Buffer | undefined;
  readonly reverse?: boolean;
}

interface Tree {
  readonly depth: number;
  readonly root: bigint;
}

/** The file as of one commit. */
interface Snapshot {
  readonly commit: bigint;
  readonly main: Tree;
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
  readonly path: string;
  readonly #file: number;
  #pageSize = 0;
  #snapshot: Snapshot;
  #moves = 0;

  /** Opens the file for reading. Throws `FileDamage` when its header pages are damaged, and an I/O error. */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'r');
    try {
      this.#snapshot = this.#newest();
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  get bytes(): number {
    return fstatSync(this.#file).size;
  }

  /** The value of one key; undefined when there is none. Throws `FileDamage`. */
  get(table: string | null, key: Buffer): Buffer | undefined {
    for (;;) {
      try {
        const found = this.#find(table, key)?.read();
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
   * The rows of a named table, or of the file's own (null), in the order of their keys; and, in its place, each page that
   * is damaged, whose rows are left out. A table that does not exist has none.
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

  /** The row, of which the value may have moved when it is read: it is then looked up again, and empty if the row is gone. */
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
          this.#snapshot = this.#newest();
          return (this.get(table, key) ?? Buffer.alloc(0)).subarray(0, lengthMax);
        }
      },
    };
  }

  #follow(): void {
    this.#moves++;
    this.#snapshot = this.#newest();
  }

  /** Whether there was a commit since, and what is not as expected may be the trace of it. */
  #hasMoved(): boolean {
    if (this.#moves >= movesMax || this.#newest().commit === this.#snapshot.commit) return false;
    this.#follow();
    return true;
  }

  #newest(): Snapshot {
    const first = this.#meta(0);
    const second = this.#meta(1);
    if (first === null && second === null)
      throw new FileDamage(0, 'both of its header pages are overwritten');
    const commitOf = (meta: Buffer | null) => meta?.readBigUInt64LE(152) ?? -1n;
    const newest = commitOf(first) >= commitOf(second) ? first! : second!;
    return { commit: commitOf(newest), main: treeAt(newest, 96) };
  }

  #meta(number: number): Buffer | null {
    const sizes = this.#pageSize === 0 && number === 1 ? pageSizes : [this.#pageSize];
    for (const size of sizes) {
      const page = Buffer.alloc(metaBytes);
      readSync(this.#file, page, 0, metaBytes, number * size);
      const isMeta = (page.readUInt16LE(18) & metaFlag) !== 0 && page.readUInt32LE(24) === magic;
      const pageSize = page.readUInt32LE(48);
      if (!isMeta || (page.readUInt32LE(28) & 0xffff) !== dataVersion || !pageSizes.includes(pageSize))
        continue;
      this.#pageSize = pageSize;
      return page;
    }
    return null;
  }

  /** The tree of a table; null when there is none. Throws `Moved`, or `FileDamage`. */
  #treeOf(table: string | null): Tree | null {
    const { main, commit } = this.#snapshot;
    if (table === null) return main;
    const name = Buffer.from(table);
    for (const row of this.#walk(main.root, main.depth, { from: name, reverse: false, commit }, true)) {
      if (row instanceof FileDamage) throw row;
      const end = row.key.at(-1) === 0 ? row.key.length - 1 : row.key.length;
      return row.key.subarray(0, end).equals(name) ? treeAt(row.read(), 0) : null;
    }
    return null;
  }

  /** The rows below a page whose keys are not before `from`, in the order asked for. Throws `Moved`. */
  *#walk(
    number: bigint,
    height: number,
    range: WalkRange,
    withTables = false,
  ): Generator<FileRow | FileDamage> {
    if (number === noPage) return;
    const { from, reverse, commit } = range;
    const page = this.#page(number, height, commit);
    if (page instanceof FileDamage) {
      if (this.#moves < movesMax && this.#newest().commit !== commit) throw new Moved();
      yield page;
      return;
    }
    const slots = page.readUInt16LE(20) / 2;
    const [first, last] = this.#slotsWithin(page, slots, height, from, reverse);
    for (let i = 0; i <= last - first; i++) {
      const start = nodeAt(page, reverse ? last - i : first + i);
      if (height > 1) {
        yield* this.#walk(BigInt(page.readUIntLE(start, 6)), height - 1, range, withTables);
        continue;
      }
      const isTable = (page.readUInt16LE(start + 4) & subDatabaseFlag) !== 0;
      if (isTable === withTables) yield this.#row(page, number, start, commit);
    }
  }

  /** The first and the last slot of a page that may lead to keys from `from` on; to keys before it, when `reverse`. */
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
    const length = page.readUInt32LE(start);
    const isBig = (page.readUInt16LE(start + 4) & bigDataFlag) !== 0;
    const key = keyAt(page, start);
    const data = start + nodeHeaderBytes + key.length;
    if (isBig) {
      const overflow = page.readBigUInt64LE(data);
      const at = Number(overflow) * this.#pageSize + headerBytes;
      const read = (lengthMax = length) => this.#overflow(overflow, commit, length, lengthMax);
      return { key, length, at, read };
    }
    const at = Number(number) * this.#pageSize + data;
    const read = (lengthMax = length) => Buffer.from(page.subarray(data, data + Math.min(length, lengthMax)));
    return { key, length, at, read };
  }

  #overflow(number: bigint, commit: bigint, length: number, lengthMax: number): Buffer {
    const pages = Math.floor((headerBytes - 1 + length) / this.#pageSize) + 1;
    const at = Number(number) * this.#pageSize;
    const bytes = this.#read(at, headerBytes + Math.min(length, lengthMax));
    const isSound =
      bytes !== null &&
      bytes.readBigUInt64LE(0) === number &&
      bytes.readBigUInt64LE(8) <= commit &&
      (bytes.readUInt16LE(18) & overflowFlag) !== 0 &&
      bytes.readUInt32LE(20) >= pages &&
      at + pages * this.#pageSize <= this.bytes;
    if (!isSound) throw this.#damage(number, bytes);
    return bytes.subarray(headerBytes);
  }

  /** A page of a tree, or what is wrong with it. */
  #page(number: bigint, height: number, commit: bigint): Buffer | FileDamage {
    if (height < 1 || height > depthMax) return new FileDamage(0, `a tree has the depth ${height}`);
    const at = Number(number) * this.#pageSize;
    const page = this.#read(at, this.#pageSize);
    if (page === null) return this.#damage(number, null);
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    const kind = page.readUInt16LE(18) & (branchFlag | leafFlag | overflowFlag | metaFlag);
    const isSound =
      page.readBigUInt64LE(0) === number &&
      page.readBigUInt64LE(8) <= commit &&
      kind === (height > 1 ? branchFlag : leafFlag) &&
      lower % 2 === 0 &&
      lower <= upper &&
      upper <= this.#pageSize - headerBytes &&
      this.#nodesFit(page, lower / 2, height);
    return isSound ? page : this.#damage(number, page);
  }

  #nodesFit(page: Buffer, slots: number, height: number): boolean {
    for (let slot = 0; slot < slots; slot++) {
      const start = nodeAt(page, slot);
      if (start + nodeHeaderBytes > this.#pageSize) return false;
      const key = start + nodeHeaderBytes + page.readUInt16LE(start + 6);
      const isBig = (page.readUInt16LE(start + 4) & bigDataFlag) !== 0;
      const data = height > 1 ? 0 : isBig ? headerBytes : page.readUInt32LE(start);
      if (key + data > this.#pageSize) return false;
    }
    return true;
  }

  #damage(number: bigint, page: Buffer | null): FileDamage {
    const at = Number(number) * this.#pageSize;
    const what = page === null ? 'lies outside of the file' : 'is overwritten';
    return new FileDamage(at, `page ${number} ${what}`);
  }

  #read(at: number, length: number): Buffer | null {
    if (at < 2 * this.#pageSize || !Number.isSafeInteger(at)) return null;
    const bytes = Buffer.allocUnsafe(length);
    return readSync(this.#file, bytes, 0, length, at) === length ? bytes : null;
  }
}

function nodeAt(page: Buffer, slot: number): number {
  return headerBytes + page.readUInt16LE(headerBytes + 2 * slot);
}

function keyAt(page: Buffer, start: number): Buffer {
  const at = start + nodeHeaderBytes;
  return page.subarray(at, at + page.readUInt16LE(start + 6));
}

function treeAt(bytes: Buffer, start: number): Tree {
  return {
    depth: bytes.readUInt16LE(start + 6),
    root: bytes.readBigUInt64LE(start + 40),
  };
}
