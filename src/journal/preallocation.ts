// Room ahead of the log: the file of the newest segment is filled with zeros beyond what was written, so that the two
// syncs of a commit find a file whose size and blocks don't change, which makes a commit faster. Called by the log
// before each transaction; the zeros are written beside the transactions, off this thread, a piece at a time.
//
// LMDB writes new pages into the same file, behind the last page that it has used. So only what no transaction can
// have reached is filled, and a transaction that might reach what is being filled waits for that. Where the disk does
// not take the zeros, LMDB makes the file longer itself, as it would without them.

import { constants, statSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { dataFile, type Environment, pageBytesOf, usedBytes } from './environment.ts';

/** The file is filled by as much again as it holds, within these bounds: a small folder stays small. */
const aheadBytesMin = 256 * 1024;
const aheadBytesMax = 4 * 1024 * 1024;
/** So much is written and synced at once: a commit that comes meanwhile may wait for it. */
const pieceBytesMax = 1024 * 1024;
const zeros = Buffer.alloc(pieceBytesMax);
/** What a transaction may use besides the pages of its values: the way to its leaf, and the list of free pages. */
const treePagesMax = 32;

export class Preallocation {
  readonly #file: string;
  readonly #environment: Environment;
  readonly #pageBytes: number;
  readonly #bytesMax: number;
  /** How far LMDB may have used the file, at most, when the transaction that was admitted last is written. */
  #usedBytesMax: number;
  /** The file is filled up to here, and while it is being filled no transaction goes beyond. */
  #filledBytes: number;
  #filling: Promise<void> | null = null;
  #isOver = false;

  /** For the environment in `folder`, whose file is filled up to `bytesMax` at most. */
  constructor(folder: string, environment: Environment, bytesMax: number) {
    this.#file = dataFile(folder);
    this.#environment = environment;
    this.#pageBytes = pageBytesOf(environment);
    this.#bytesMax = bytesMax;
    this.#usedBytesMax = usedBytes(environment);
    this.#filledBytes = statSync(this.#file).size;
  }

  /** Admits a transaction that puts these values: undefined when it may be written, or a promise that settles then. */
  admit(values: readonly { readonly bytes: Buffer }[]): Promise<void> | undefined {
    let pages = treePagesMax;
    // A value has pages of its own, or it lies in a leaf and may begin a new one.
    for (const { bytes } of values) pages += Math.ceil(bytes.length / this.#pageBytes) + 2;
    const bytes = pages * this.#pageBytes;
    this.#usedBytesMax += bytes;
    const isFilling = this.#filling !== null;
    const isDone = this.#isOver || this.#filledBytes >= this.#bytesMax;
    if (this.#leftBytes >= (isFilling ? 0 : aheadBytesMax / 2) || (isDone && !isFilling)) return undefined;
    // Transactions have used less than they might have.
    this.#usedBytesMax = usedBytes(this.#environment) + bytes;
    if (isFilling) return this.#leftBytes < 0 ? this.#filling! : undefined;
    const aheadBytes = Math.max(aheadBytesMin, Math.min(this.#usedBytesMax, aheadBytesMax));
    if (this.#leftBytes < aheadBytes / 2) this.#fillAhead(aheadBytes);
    return undefined;
  }

  get #leftBytes(): number {
    return this.#filledBytes - this.#usedBytesMax;
  }

  #fillAhead(aheadBytes: number): void {
    // LMDB may have made the file longer.
    const start = Math.max(statSync(this.#file).size, this.#usedBytesMax);
    const end = Math.min(this.#usedBytesMax + aheadBytes, this.#bytesMax, start + pieceBytesMax);
    this.#filledBytes = start;
    if (start < end) this.#filling = this.#fill(start, end);
  }

  async #fill(start: number, end: number): Promise<void> {
    try {
      const file = await open(this.#file, constants.O_WRONLY | constants.O_DSYNC);
      try {
        const { bytesWritten } = await file.write(zeros, 0, end - start, start);
        this.#filledBytes = start + bytesWritten;
      } finally {
        await file.close();
      }
    } catch {
      this.#isOver = true;
    } finally {
      this.#filling = null;
    }
  }

  /** Settles when nothing is filled any more, and nothing will be. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#filling;
  }

  /** Cuts off what is not used: nothing is written to the file any more. */
  async finish(): Promise<void> {
    await this.stop();
    const used = usedBytes(this.#environment);
    // What stays takes room, and harms nothing.
    if (statSync(this.#file).size > used) await truncate(this.#file, used).catch(() => {});
  }
}
