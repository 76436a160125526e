// A look at a shard's journal that disturbs nobody: the checkpoint as of one moment, and the log up
// to its end, while the shard goes on in another process. Backups and the archive call it. Tables
// are copied as they are: nothing here knows what they mean.

import { dataFile } from '../disk/environment.ts';
import type { ShardIdentity } from '../disk/identity.ts';
import { syncPath } from '../disk/sync-path.ts';
import { checkpointSequenceIn, newestSegmentIn } from './checkpoint/checkpoint-reader.ts';
import { CheckpointRows } from './checkpoint/checkpoint-rows.ts';
import { unlessDamaged } from './journal.ts';
import { readLog, type StoredBatch } from './log/follow.ts';
import { checksumAt, endOf, gapEnd, Segments } from './log/segments.ts';
import { foldersOfJournal, mapSizesOf, refuseMissingSegment } from './open-journal.ts';

export interface CopyOptions {
  /** The shard's folder. */
  readonly dir: string;
  readonly identity: ShardIdentity;
  readonly segmentBytesMax: number;
}

export class JournalCopy {
  readonly #options: CopyOptions;
  readonly #segments: Segments;

  constructor(options: CopyOptions) {
    this.#options = options;
    const { log } = foldersOfJournal(options.dir);
    this.#segments = new Segments(log, mapSizesOf(options).log, options.identity, 'read-foreign');
  }

  /** Throws `JournalDamaged`: a copy would not show that the newest segment is gone. */
  refuseMissingSegment(): void {
    const newestSegment = newestSegmentIn(foldersOfJournal(this.#options.dir).checkpoint);
    // A segment that was begun since is found, too.
    this.#segments.refresh();
    refuseMissingSegment(this.#segments, { newestSegment });
  }

  /** The last sequence that can be read. Throws `JournalDamaged`. */
  get logEnd(): number {
    this.#segments.refresh();
    return endOf(this.#segments);
  }

  /** Makes durable what can be read: a commit is seen before it is on the disk. */
  sync(): void {
    // A segment is finished on the disk before another one is begun, and may be dropped then.
    this.#segments.refresh();
    const newest = this.#segments.list.at(-1);
    if (newest !== undefined) syncPath(dataFile(newest.folder));
  }

  /** The first sequence of the oldest segment; one more than `logEnd` when there is none. */
  get logStart(): number {
    return this.#segments.list[0]?.firstSequence ?? 1;
  }

  /** The last sequence of the finished segments; nothing is added to these. */
  get finishedEnd(): number {
    return (this.#segments.list.at(-1)?.firstSequence ?? 1) - 1;
  }

  /** See `checksumAt` of the segments. */
  checksumAt(sequence: number): number | null | undefined {
    this.#segments.refresh();
    return checksumAt(this.#segments, sequence);
  }

  /** When the entry after this one was made, wall time in Unix ms; null when there is none. */
  async timeAfter(sequence: number): Promise<number | null> {
    this.#segments.refresh();
    await this.#segments.forgetDropped();
    const after = this.#goOnAfter(sequence);
    for await (const [batch] of readLog(this.#segments, after, after + 1)) return batch?.wallMs ?? null;
    return null;
  }

  /**
   * The batches after `after`, up to the one with `upTo`; whoever asks may wait in between.
   * `onMissing` hears which are left out because only the checkpoint has what they did: their
   * segment is dropped meanwhile, or was given up. Throws `DamagedLog`.
   */
  async *batches(
    after: number,
    upTo: number,
    onMissing: (first: number, last: number) => void,
  ): AsyncGenerator<StoredBatch> {
    const goOnAfter = async (last: number) => {
      await this.#segments.forgetDropped();
      const end = this.#goOnAfter(last);
      if (end > last) onMissing(last + 1, end);
      return end;
    };
    for await (const batches of readLog(this.#segments, after, upTo, goOnAfter)) yield* batches;
  }

  /** `sequence`, or the end of what is missing after it and lies in the checkpoint. */
  #goOnAfter(sequence: number): number {
    // Nothing is dropped that the checkpoint does not have.
    if (sequence < this.logStart - 1) return this.logStart - 1;
    // Whoever reads there meets the damage, and says what to do.
    const end = (unlessDamaged(() => gapEnd(this.#segments, sequence)) ?? 0) - 1;
    if (end <= sequence) return sequence;
    const reflected = checkpointSequenceIn(foldersOfJournal(this.#options.dir).checkpoint) ?? 0;
    return end <= reflected ? end : sequence;
  }

  /** The checkpoint as it is now; close it when its rows are read. Throws `JournalDamaged`. */
  checkpoint(folder = foldersOfJournal(this.#options.dir).checkpoint): CheckpointRows {
    return new CheckpointRows(folder);
  }

  close(): Promise<void> {
    return this.#segments.close();
  }
}
