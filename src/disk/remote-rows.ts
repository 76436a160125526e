// The port to rows that other machines hold, too, as journal/remote-log.ts is the port to such a
// log. A write goes there first, then into the row store of this machine, which is its mirror.

export type RowChanges = ReadonlyMap<string, Uint8Array | null>;

/** The last write, and a checksum over all of them; of sequence 0 when there was none. */
export interface RowsEnd {
  readonly sequence: number;
  readonly checksum: number;
}

export interface RemoteRows {
  /**
   * Takes the rows from whoever had them, and tries again until it succeeds or `close` is called.
   * Rejects with `JournalFailure`, or with `JournalDamaged` where trying again can't help.
   */
  acquire(): Promise<RowsEnd>;
  /** The checksum of all writes up to that one; null when that is no longer known. */
  checksumAt(sequence: number): Promise<number | null>;
  /** The rows that were written after a write, some at a time; null is one that was removed. */
  readAfter(sequence: number): AsyncIterable<RowChanges>;
  /**
   * Resolves with the new end when enough machines have the rows on disk. While nobody can say, it
   * tries again: the same write is never made twice. Rejects with `JournalFailure` when somebody
   * else has taken the rows, or when `close` is called.
   */
  write(rows: RowChanges): Promise<RowsEnd>;
  /** Puts these rows in the place of all. */
  replace(rows: RowChanges): Promise<RowsEnd>;
  /** Waits a moment for `written`: writes that are not acknowledged then fail. */
  close(written?: Promise<unknown>): Promise<void>;
}
