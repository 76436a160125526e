// Reads very many rows of an LMDB file: leaves that follow each other are read at once, and no
// object is made for a row. The pages of the commit must not be used again meanwhile, so the caller
// has begun a transaction before it opened the file. lmdb-file.ts needs none.

import { elementAt } from '../core/assert.ts';
import type { LmdbFile } from './lmdb-file.ts';
import { bigDataFlag, nodeAt, nodeHeaderBytes, noPage, slotsIn, soundPage } from './lmdb-pages.ts';

/** Gets a row: its key and its value lie between these bytes of buffers that are used again. */
export type EachRow = (
  keys: Buffer,
  keyStart: number,
  keyEnd: number,
  values: Buffer,
  valueStart: number,
  valueEnd: number,
) => void;

/** The most bytes that are read at once. */
const runBytesMax = 256 * 1024;

/** Calls `each` with all rows in the order of their keys. Throws `FileDamage`. */
export function* scan(file: LmdbFile, table: string, each: EachRow): Generator<void> {
  const found = file.tree(table);
  if (found === null || found.tree.root === noPage) return;
  const { pages } = file;
  const { pageSize } = pages;
  const { tree, commit } = found;
  const run = Buffer.allocUnsafeSlow(runBytesMax);
  const runMax = Math.floor(runBytesMax / pageSize);
  yield* below([Number(tree.root)], tree.depth);

  /** The rows below these pages. The height of a leaf is 1. */
  function* below(numbers: readonly number[], height: number): Generator<void> {
    if (height === 1) return yield* leaves(numbers);
    for (const number of numbers) {
      const page = soundPage(pages.page(BigInt(number), height, commit));
      const slots = Array.from({ length: slotsIn(page) }, (_, slot) => nodeAt(page, slot));
      yield* below(
        slots.map((start) => page.readUIntLE(start, 6)),
        height - 1,
      );
    }
  }

  function* leaves(numbers: readonly number[]): Generator<void> {
    for (let i = 0; i < numbers.length; ) {
      const first = elementAt(numbers, i);
      let count = 1;
      while (count < runMax && numbers[i + count] === first + count) count++;
      pages.readRun(first, count, run);
      for (let j = 0; j < count; j++) {
        const page = run.subarray(j * pageSize, (j + 1) * pageSize);
        leaf(soundPage(pages.checked(page, BigInt(first + j), 1, commit)));
      }
      i += count;
      yield;
    }
  }

  function leaf(page: Buffer): void {
    const slots = slotsIn(page);
    for (let slot = 0; slot < slots; slot++) {
      const start = nodeAt(page, slot);
      const length = page.readUInt32LE(start);
      const key = start + nodeHeaderBytes;
      const data = key + page.readUInt16LE(start + 6);
      if ((page.readUInt16LE(start + 4) & bigDataFlag) === 0) {
        each(page, key, data, page, data, data + length);
        continue;
      }
      each(page, key, data, pages.overflow(page.readBigUInt64LE(data), commit, length, length), 0, length);
    }
  }
}
