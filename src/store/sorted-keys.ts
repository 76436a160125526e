// A sorted set of strings, for the indexes in memory. Keys arrive nearly in order, because ids sort
// by creation. They are compared by UTF-16 code unit, which for ASCII is also the order of the
// bytes on disk. They are in blocks of at most 512, in order and none empty, so that a change moves
// the keys of one block. A key in or after the last block is found without a search over the
// blocks.

import { elementAt } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';
import type { ScanRange } from '../domain/view.ts';

const blockSize = pieceSize(512);

export class SortedKeys {
  readonly #blocks: string[][] = [];
  /** The number of changes, by which a scan notices that its position is wrong. */
  #version = 0;

  /** Adds `key`. Returns false if the set had it already. */
  add(key: string): boolean {
    const [b, i] = this.#seek(key);
    const block = this.#blocks[b];
    if (block?.[i] === key) return false;
    if (block === undefined) this.#append(key);
    else {
      block.splice(i, 0, key);
      if (block.length > blockSize) this.#blocks.splice(b + 1, 0, block.splice(blockSize / 2));
    }
    this.#version++;
    return true;
  }

  /** Removes `key`. Returns false if the set did not have it. */
  delete(key: string): boolean {
    const [b, i] = this.#seek(key);
    const block = this.#blocks[b];
    if (block?.[i] !== key) return false;
    block.splice(i, 1);
    if (block.length === 0) this.#blocks.splice(b, 1);
    else {
      this.#join(b);
      this.#join(b - 1);
    }
    this.#version++;
    return true;
  }

  /** The keys strictly between the bounds, lazily. Keys may be added and deleted meanwhile. */
  *scan({ after, before, descending }: ScanRange): Generator<string, void, undefined> {
    const blocks = this.#blocks;
    const step = descending ? -1 : 1;
    const end = descending ? after : before;
    let passed = descending ? before : after;
    let version = -1;
    let b = 0;
    let i = 0;
    for (;;) {
      if (version === this.#version) i += step;
      else {
        version = this.#version;
        if (passed === undefined) [b, i] = descending ? [blocks.length, 0] : [0, 0];
        else [b, i] = this.#seek(passed);
        if (descending || blocks[b]?.[i] === passed) i += step;
      }
      if (i < 0) i = (blocks[--b]?.length ?? 0) - 1;
      else if (i === blocks[b]?.length) [b, i] = [b + 1, 0];
      const key = blocks[b]?.[i];
      if (key === undefined) return;
      if (end !== undefined && (descending ? key <= end : key >= end)) return;
      passed = key;
      yield key;
    }
  }

  /**
   * The block and position of the first key that is not below `key`, or the block after the last.
   */
  #seek(key: string): [number, number] {
    const blocks = this.#blocks;
    const last = blocks.at(-1);
    if (last === undefined || lastOf(last) < key) return [blocks.length, 0];
    let high = blocks.length - 1;
    let low = elementAt(last, 0) <= key ? high : 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lastOf(elementAt(blocks, middle)) < key) low = middle + 1;
      else high = middle;
    }
    return [low, lowerBound(elementAt(blocks, low), key)];
  }

  #append(key: string): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.length === blockSize) this.#blocks.push([key]);
    else last.push(key);
  }

  /**
   * Joins block `b` with the next one if both are small: deletions don't leave many tiny blocks.
   */
  #join(b: number): void {
    const block = this.#blocks[b];
    const next = this.#blocks[b + 1];
    if (block === undefined || next === undefined || block.length + next.length > blockSize / 2) return;
    this.#blocks.splice(b, 2, block.concat(next));
  }
}

/** Whether a key lies between the bounds. */
export function isWithin(key: string, { after, before }: ScanRange): boolean {
  return (after === undefined || key > after) && (before === undefined || key < before);
}

function lastOf(block: readonly string[]): string {
  return elementAt(block, block.length - 1);
}

/** The position of the first key of the sorted `keys` that is not below `key`. */
export function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (elementAt(keys, middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
