// Reads very many rows of an LMDB file: leaves that follow each other are read at once, and no
// object is made for a row. The pages of the commit must not be used again meanwhile, so the caller
// has begun a transaction before it opened the file. lmdb-file.ts needs none.

import { elementAt } from '../core/assert.ts';
import type { LmdbFile } from './lmdb-file.ts';
import { bigDataFlag, nodeHeaderBytes, noPage } from './lmdb-format.ts';
import { FileDamage, type LmdbPages, nodeAt, slotsIn } from './lmdb-pages.ts';

/** Gets a row: its key and its value lie between these bytes of buffers that are used again. */
export type EachRow = (
  keys: Buffer,
  keyStart: number,
  keyEnd: number,
  values: Buffer,
  valueStart: number,
  valueEnd: number,
) => void;

/** So many bytes are read at once, at most. */
const runBytesMax = 256 * 1024;

/** Calls `each` with all rows in the order of their keys. Throws `FileDamage`. */
export function* scan(file: LmdbFile, table: string, each: EachRow): Generator<void> {
  const found = file.tree(table);
  if (found === null || found.tree.root === noPage) return;
  const { tree, commit } = found;
  const scanner = new Scanner(file.pages, commit, each);
  yield* scanner.below([Number(tree.root)], tree.depth);
}

class Scanner {
  readonly #pages: LmdbPages;
  readonly #commit: bigint;
  readonly #each: EachRow;
  readonly #run = Buffer.allocUnsafeSlow(runBytesMax);

  constructor(pages: LmdbPages, commit: bigint, each: EachRow) {
    this.#pages = pages;
    this.#commit = commit;
    this.#each = each;
  }

  /** The rows below these pages, which are so many levels above the rows. */
  *below(numbers: readonly number[], height: number): Generator<void> {
    if (height === 1) return yield* this.#leaves(numbers);
    for (const number of numbers) {
      const page = sound(this.#pages.page(BigInt(number), height, this.#commit));
      const children = Array.from({ length: slotsIn(page) }, (_, slot) =>
        page.readUIntLE(nodeAt(page, slot), 6),
      );
      yield* this.below(children, height - 1);
    }
  }

  *#leaves(numbers: readonly number[]): Generator<void> {
    const { pageSize } = this.#pages;
    const runMax = Math.floor(runBytesMax / pageSize);
    for (let i = 0; i < numbers.length; ) {
      const first = elementAt(numbers, i);
      let count = 1;
      while (count < runMax && numbers[i + count] === first + count) count++;
      this.#pages.readRun(first, count, this.#run);
      for (let j = 0; j < count; j++) {
        const page = this.#run.subarray(j * pageSize, (j + 1) * pageSize);
        this.#leaf(sound(this.#pages.checked(page, BigInt(first + j), 1, this.#commit)));
      }
      i += count;
      yield;
    }
  }

  #leaf(page: Buffer): void {
    const slots = slotsIn(page);
    for (let slot = 0; slot < slots; slot++) {
      const start = nodeAt(page, slot);
      const length = page.readUInt32LE(start);
      const key = start + nodeHeaderBytes;
      const data = key + page.readUInt16LE(start + 6);
      if ((page.readUInt16LE(start + 4) & bigDataFlag) === 0) {
        this.#each(page, key, data, page, data, data + length);
        continue;
      }
      const value = this.#pages.overflow(page.readBigUInt64LE(data), this.#commit, length, length);
      this.#each(page, key, data, value, 0, length);
    }
  }
}

function sound(page: Buffer | FileDamage): Buffer {
  if (page instanceof FileDamage) throw page;
  return page;
}
