// Fills the file of the log's newest segment with zeros ahead of what was written, because a
// commit's syncs are faster on a file whose size and blocks stay. They are written in pieces,
// beside the transactions and not on this thread. LMDB writes new pages into the same file, behind
// the last page in use: so zeros go only where no transaction can have written, and one that might
// reach the piece in writing waits. If the disk takes no zeros, LMDB itself makes the file longer.

import { constants, statSync } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { dataFile, type Environment, pageBytesOf, usedBytes } from './environment.ts';

/** As many bytes are filled ahead as are in use, within these bounds. */
const aheadBytesMin = 256 * 1024;
const aheadBytesMax = 4 * 1024 * 1024;
/** With more left, by the estimate, a transaction need not wait: asking the library is slow. */
const enoughBytes = 1024 * 1024;
/** How much is written and synced at once. A commit that comes in the meantime may wait. */
const pieceBytesMax = 1024 * 1024;
const zeros = Buffer.alloc(pieceBytesMax);
/** What a transaction may use besides its values: the path to its leaf, the list of free pages. */
const treePagesMax = 32;

export class Preallocation {
  readonly #file: string;
  readonly #environment: Environment;
  readonly #pageBytes: number;
  readonly #bytesMax: number;
  /** What LMDB may use of the file, at most, once the last admitted transaction is written. */
  #usedBytesMax: number;
  /** The file is filled up to here, and no transaction reaches beyond while a piece is written. */
  #filledBytes: number;
  #filling: Promise<void> | null = null;
  #isOver = false;

  /** `environment` is in `folder`. Its file is filled up to `bytesMax` at most. */
  constructor(folder: string, environment: Environment, bytesMax: number) {
    this.#file = dataFile(folder);
    this.#environment = environment;
    this.#pageBytes = pageBytesOf(environment);
    this.#bytesMax = bytesMax;
    this.#usedBytesMax = usedBytes(environment);
    this.#filledBytes = statSync(this.#file).size;
  }

  /** Admits a transaction that puts these values. Undefined: it need not wait. */
  admit(values: readonly { readonly bytes: Buffer }[]): Promise<void> | undefined {
    let pages = treePagesMax;
    // A value has pages of its own, or it lies in a leaf and may begin a new one.
    for (const { bytes } of values) pages += Math.ceil(bytes.length / this.#pageBytes) + 2;
    const bytes = pages * this.#pageBytes;
    this.#usedBytesMax += bytes;
    const isFilling = this.#filling !== null;
    const isDone = this.#isOver || this.#filledBytes >= this.#bytesMax;
    if (this.#leftBytes >= (isFilling ? 0 : enoughBytes) || (isDone && !isFilling)) return undefined;
    // The estimate is corrected, because transactions mostly use less than they may.
    this.#usedBytesMax = usedBytes(this.#environment) + bytes;
    if (isFilling) return this.#leftBytes < 0 ? (this.#filling ?? undefined) : undefined;
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

  /** Ends the filling, and resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#filling;
  }

  /** Cuts off the unused end of the file, to which the log no longer writes. */
  async finish(): Promise<void> {
    await this.stop();
    const used = usedBytes(this.#environment);
    // If it can't be cut, the zeros take room and do no harm.
    if (statSync(this.#file).size > used) await truncate(this.#file, used).catch(() => {});
  }
}
