// Checks the structure of an LMDB file before it is opened. LMDB maps the file and trusts it: a file that was cut short or
// overwritten ends the whole process (SIGBUS, SIGSEGV, a failed assertion) or, worse, silently has fewer rows. The check is for
// LMDB's data version 2 on little-endian machines, see `MDB_page`, `MDB_node`, `MDB_db` and `MDB_meta` in its mdb.c.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  bigDataFlag,
  branchFlag,
  dataVersion,
  headerBytes,
  leafFlag,
  magic,
  metaFlag,
  nodeHeaderBytes,
  noPage,
  overflowFlag,
  subDatabaseFlag,
} from './lmdb-format.ts';

const smallTreeEntries = 1_000;

/** From the cheapest to the deepest. */
const depths = ['none', 'branches', 'leaves'] as const;

/**
 * `branches` reads about one page in a hundred of a large tree, `leaves` every page. Small trees are always read whole.
 * `none` is for a file that this process has checked, or made.
 */
export type CheckDepth = (typeof depths)[number];

/** The check that is still needed for a file that was checked before. */
export function remainingCheck(wanted: CheckDepth, done: CheckDepth): CheckDepth {
  return depths.indexOf(wanted) <= depths.indexOf(done) ? 'none' : wanted;
}

interface Tree {
  readonly depth: number;
  readonly entries: number;
  readonly root: bigint;
}

class Defect extends Error {}

/**
 * What is wrong with the LMDB file at `path`; null when nothing is. A file that is shorter than its header says is read down to
 * its leaves, whatever `depth` is, because LMDB does not write its last pages when it has freed them again.
 */
export function fileDefect(path: string, depth: CheckDepth): string | null {
  if (!existsSync(path)) return 'it is missing';
  if (depth === 'none') return null;
  const file = openSync(path, 'r');
  try {
    new PageReader(file, fstatSync(file).size).check(depth);
    return null;
  } catch (error) {
    if (error instanceof Defect) return error.message;
    throw error;
  } finally {
    closeSync(file);
  }
}

class PageReader {
  readonly #file: number;
  readonly #size: number;
  #pageSize = 0;
  #isThorough = false;

  constructor(file: number, size: number) {
    this.#file = file;
    this.#size = size;
  }

  check(depth: CheckDepth): void {
    const first = this.#meta(0);
    this.#pageSize = first.readUInt32LE(48);
    if (![4096, 8192, 16384, 32768, 65536].includes(this.#pageSize))
      throw new Defect(`its page size is ${this.#pageSize}`);
    const second = this.#meta(1);
    const newest = first.readBigUInt64LE(152) >= second.readBigUInt64LE(152) ? first : second;
    const wholeSize = (Number(newest.readBigUInt64LE(144)) + 1) * this.#pageSize;
    this.#isThorough = depth === 'leaves' || this.#size < wholeSize;
    this.#tree(treeAt(newest, 48));
    this.#tree(treeAt(newest, 96));
  }

  #meta(number: number): Buffer {
    const page = this.#read(number * this.#pageSize, 176);
    const isMeta = (page.readUInt16LE(18) & metaFlag) !== 0 && page.readUInt32LE(24) === magic;
    if (!isMeta || (page.readUInt32LE(28) & 0xffff) !== dataVersion)
      throw new Defect(`its header page ${number} is overwritten`);
    return page;
  }

  #tree(tree: Tree): void {
    if (tree.root === noPage) return;
    if (tree.depth < 1 || tree.depth > 32) throw new Defect(`a tree has the depth ${tree.depth}`);
    const leaves = this.#isThorough || tree.entries <= smallTreeEntries;
    const entries = this.#node(tree.root, tree.depth, leaves);
    if (leaves && entries !== tree.entries)
      throw new Defect(`a tree holds ${entries} entries instead of ${tree.entries}`);
  }

  /** Checks the page and everything below it. Returns the number of entries when leaves are read. */
  #node(number: bigint, height: number, leaves: boolean): number {
    const position = Number(number) * this.#pageSize;
    if (position < 2 * this.#pageSize || position + this.#pageSize > this.#size)
      throw new Defect(`page ${number} lies outside the file, which has ${this.#size} bytes`);
    if (height === 1 && !leaves) return 0;
    const page = this.#read(position, this.#pageSize);
    const flags = page.readUInt16LE(18);
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    const isExpected = (flags & (branchFlag | leafFlag)) === (height > 1 ? branchFlag : leafFlag);
    const fits = lower % 2 === 0 && lower <= upper && upper <= this.#pageSize - headerBytes;
    if (page.readBigUInt64LE(0) !== number || !isExpected || !fits)
      throw new Defect(`page ${number} is overwritten`);
    let entries = 0;
    for (let slot = 0; slot < lower / 2; slot++) {
      const start = headerBytes + page.readUInt16LE(headerBytes + slot * 2);
      if (start + nodeHeaderBytes > this.#pageSize) throw new Defect(`page ${number} is overwritten`);
      if (height > 1) entries += this.#node(childAt(page, start), height - 1, leaves);
      else {
        this.#leaf(page, start, number);
        entries++;
      }
    }
    return entries;
  }

  #leaf(page: Buffer, start: number, number: bigint): void {
    const length = page.readUInt32LE(start);
    const flags = page.readUInt16LE(start + 4);
    const data = start + nodeHeaderBytes + page.readUInt16LE(start + 6);
    const isBig = (flags & bigDataFlag) !== 0;
    if (data + (isBig ? 24 : length) > this.#pageSize) throw new Defect(`page ${number} is overwritten`);
    if (isBig) this.#overflow(page.readBigUInt64LE(data), length);
    else if ((flags & subDatabaseFlag) !== 0) this.#tree(treeAt(page, data));
  }

  #overflow(number: bigint, length: number): void {
    const pages = Math.floor((headerBytes - 1 + length) / this.#pageSize) + 1;
    const header = this.#read(Number(number) * this.#pageSize, headerBytes);
    const isOverflow = (header.readUInt16LE(18) & overflowFlag) !== 0 && header.readUInt32LE(20) >= pages;
    if (header.readBigUInt64LE(0) !== number || !isOverflow)
      throw new Defect(`page ${number} is overwritten`);
    if ((Number(number) + pages) * this.#pageSize > this.#size)
      throw new Defect(`page ${number} is cut off: the file has ${this.#size} bytes`);
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    const cut = position + length > this.#size || readSync(this.#file, bytes, 0, length, position) < length;
    if (cut) throw new Defect(`it is cut short: it has ${this.#size} bytes`);
    return bytes;
  }
}

function treeAt(page: Buffer, start: number): Tree {
  return {
    depth: page.readUInt16LE(start + 6),
    entries: Number(page.readBigUInt64LE(start + 32)),
    root: page.readBigUInt64LE(start + 40),
  };
}

/** A branch node's child: 48 bits. */
function childAt(page: Buffer, start: number): bigint {
  return BigInt(page.readUIntLE(start, 6));
}
