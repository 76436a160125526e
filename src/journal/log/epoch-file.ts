// The epoch of a log's newest owner, in a file beside the log: it counts, too, when that owner has
// appended nothing.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../disk/sync-path.ts';

export class EpochFile {
  readonly #path: string;
  #stored: number;

  /** `folder` is the shard's. */
  constructor(folder: string) {
    this.#path = join(folder, 'epoch');
    this.#stored = existsSync(this.#path) ? readEpoch(readFileSync(this.#path, 'latin1')) : 0;
  }

  /** 0 when none is stored. */
  get stored(): number {
    return this.#stored;
  }

  /** Makes the epoch durable, unless it is. Throws an I/O error. */
  store(epoch: number): void {
    if (epoch <= this.#stored) return;
    replaceFile(this.#path, `${epoch}\n`);
    this.#stored = epoch;
  }
}

/**
 * A file that can't be read counts as none: the batches of the log tell the epochs of all owners
 * that have appended, and the lock of the data folder keeps two owners apart.
 */
function readEpoch(text: string): number {
  const found = /^([1-9]\d{0,14})\n$/.exec(text);
  return found === null ? 0 : Number(found[1]);
}
