// The pages of an LMDB file, read without the library, each checked before it is used: see
// lmdb-file.ts, which reads rows, and lmdb-scan.ts, which reads very many of them.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { JournalDamaged } from './storage-errors.ts';

// How LMDB lays out a file: flags of pages, flags of rows in them, and the sizes of their heads.
const magic = 0xbeefc0de;
const dataVersion = 2;
const [branchFlag, leafFlag, overflowFlag, metaFlag] = [0x01, 0x02, 0x04, 0x08];
/** The flag of a row whose value lies in pages of its own, and that of a row that is a table. */
export const bigDataFlag = 0x01;
const subDatabaseFlag = 0x02;
export const headerBytes = 24;
export const nodeHeaderBytes = 8;
/** What a row holds instead of a value that has pages of its own: where they are. */
const bigPlaceBytes = 24;
/** The root of an empty tree. */
export const noPage = 0xffff_ffff_ffff_ffffn;
const metaBytes = 176;
const depthMax = 32;
/** How many pages are remembered: a caller that looks up many keys meets the same ones again. */
const rememberedMax = 256;
const pageSizes: readonly number[] = [4096, 8192, 16384, 32768, 65536];

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

export interface Tree {
  readonly depth: number;
  readonly entries: number;
  readonly root: bigint;
}

export interface Snapshot {
  readonly commit: bigint;
  readonly main: Tree;
}

export class LmdbPages {
  readonly path: string;
  readonly #file: number;
  #pageSize = 0;
  /** Pages that were found sound, of one commit. */
  readonly #remembered = new Map<number, Buffer>();
  #rememberedOf = -1n;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'r');
  }

  close(): void {
    closeSync(this.#file);
  }

  get bytes(): number {
    return fstatSync(this.#file).size;
  }

  /** The size of a page, once `newest` was called. */
  get pageSize(): number {
    return this.#pageSize;
  }

  /** Throws `FileDamage` when both header pages are damaged. */
  newest(): Snapshot {
    const newest = newerOf(this.#meta(0), this.#meta(1));
    if (newest === null) throw this.#headerDamage(0);
    return { commit: commitOf(newest), main: treeAt(newest, 96) };
  }

  /** The newest commit with all of its trees. Throws `FileDamage` at either header page. */
  header(): { readonly commit: bigint; readonly trees: readonly Tree[]; readonly bytes: number } {
    const header = (number: number): Buffer => {
      const meta = this.#meta(number);
      if (meta === null) throw this.#headerDamage(number);
      return meta;
    };
    const newest = newerOf(header(0), header(1));
    const bytes = (Number(newest.readBigUInt64LE(144)) + 1) * this.#pageSize;
    return { commit: commitOf(newest), trees: [treeAt(newest, 48), treeAt(newest, 96)], bytes };
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

  /** The value, or its beginning, of a row with pages of its own. Throws `FileDamage`. */
  overflow(number: bigint, commit: bigint, length: number, lengthMax: number): Buffer {
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
    if (!isSound) throw this.damage(number, pages);
    return bytes.subarray(headerBytes);
  }

  /** A page of a tree, or what is wrong with it. */
  page(number: bigint, height: number, commit: bigint): Buffer | FileDamage {
    // A page of another height with the same number is damage, and not the remembered one.
    const name = Number(number) * (depthMax + 1) + height;
    if (commit !== this.#rememberedOf || this.#remembered.size >= rememberedMax) this.#remembered.clear();
    this.#rememberedOf = commit;
    const remembered = this.#remembered.get(name);
    if (remembered !== undefined) return remembered;
    const found = this.fresh(number, height, commit);
    if (!(found instanceof FileDamage)) this.#remembered.set(name, found);
    return found;
  }

  /** The same without remembering it, for callers that read each page once. */
  fresh(number: bigint, height: number, commit: bigint): Buffer | FileDamage {
    if (height < 1 || height > depthMax) return new FileDamage(0, `a tree has the depth ${height}`);
    const page = this.#read(Number(number) * this.#pageSize, this.#pageSize);
    return page === null ? this.damage(number) : this.checked(page, number, height, commit);
  }

  /** The same for a page that was read before. */
  checked(page: Buffer, number: bigint, height: number, commit: bigint): Buffer | FileDamage {
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
      this.#nodesFit(page, lower / 2, upper, height);
    return isSound ? page : this.damage(number);
  }

  /** LMDB keeps the nodes of a page without gaps between them, each at an even address. */
  #nodesFit(page: Buffer, slots: number, upper: number, height: number): boolean {
    let used = 0;
    for (let slot = 0; slot < slots; slot++) {
      const start = nodeAt(page, slot);
      if (start + nodeHeaderBytes > this.#pageSize) return false;
      // In a branch the flags are a part of the page's number.
      const flags = height > 1 ? 0 : page.readUInt16LE(start + 4);
      if ((flags & ~(bigDataFlag | subDatabaseFlag)) !== 0) return false;
      const key = nodeHeaderBytes + page.readUInt16LE(start + 6);
      const isBig = (flags & bigDataFlag) !== 0;
      const size = key + (height > 1 ? 0 : isBig ? bigPlaceBytes : page.readUInt32LE(start));
      if (start + size > this.#pageSize) return false;
      used += size + (size & 1);
    }
    return used === this.#pageSize - headerBytes - upper;
  }

  /** Reads pages that follow each other into `bytes`. */
  readRun(first: number, count: number, bytes: Buffer): void {
    const length = readSync(this.#file, bytes, 0, count * this.#pageSize, first * this.#pageSize);
    // What lies outside of the file is no page.
    bytes.fill(0, length, count * this.#pageSize);
  }

  /** What is wrong with a page, or the first of `count`, that can't be used. */
  damage(number: bigint, count = 1): FileDamage {
    const at = Number(number) * this.#pageSize;
    return new FileDamage(at, `page ${number} ${this.#fate(at + count * this.#pageSize)}`);
  }

  #headerDamage(number: number): FileDamage {
    return new FileDamage(0, `its header page ${number} ${this.#fate(number * this.#pageSize + metaBytes)}`);
  }

  /** What became of a page, of which `end` is the last byte that is needed. */
  #fate(end: number): string {
    const { bytes } = this;
    return bytes < end ? `lies outside of the file, which has ${bytes} bytes` : 'is overwritten';
  }

  #read(at: number, length: number): Buffer | null {
    if (at < 2 * this.#pageSize || !Number.isSafeInteger(at)) return null;
    const bytes = Buffer.allocUnsafe(length);
    return readSync(this.#file, bytes, 0, length, at) === length ? bytes : null;
  }
}

function commitOf(meta: Buffer): bigint {
  return meta.readBigUInt64LE(152);
}

function newerOf<T extends Buffer | null>(first: T, second: T): T {
  if (first === null || second === null) return first ?? second;
  return commitOf(first) >= commitOf(second) ? first : second;
}

export function soundPage(page: Buffer | FileDamage): Buffer {
  if (page instanceof FileDamage) throw page;
  return page;
}

export function nodeAt(page: Buffer, slot: number): number {
  return headerBytes + page.readUInt16LE(headerBytes + 2 * slot);
}

export function keyAt(page: Buffer, start: number): Buffer {
  const at = start + nodeHeaderBytes;
  return page.subarray(at, at + page.readUInt16LE(start + 6));
}

/** The place of a row's value in its page; or the first of its own pages. */
export function valueAt(page: Buffer, start: number) {
  const length = page.readUInt32LE(start);
  const at = start + nodeHeaderBytes + page.readUInt16LE(start + 6);
  const isBig = (page.readUInt16LE(start + 4) & bigDataFlag) !== 0;
  return { length, at, overflow: isBig ? page.readBigUInt64LE(at) : null };
}

/** The tree of a row that is a table; null when it is none. */
export function tableAt(page: Buffer, start: number): Tree | null {
  if ((page.readUInt16LE(start + 4) & subDatabaseFlag) === 0) return null;
  return treeAt(page, start + nodeHeaderBytes + page.readUInt16LE(start + 6));
}

export function childAt(page: Buffer, start: number): bigint {
  return BigInt(page.readUIntLE(start, 6));
}

export function slotsIn(page: Buffer): number {
  return page.readUInt16LE(20) / 2;
}

export function treeAt(bytes: Buffer, start: number): Tree {
  return {
    depth: bytes.readUInt16LE(start + 6),
    entries: Number(bytes.readBigUInt64LE(start + 32)),
    root: bytes.readBigUInt64LE(start + 40),
  };
}
