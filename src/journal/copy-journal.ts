// A look at a shard's journal that disturbs nobody: the checkpoint as of one moment, and the log up to its end, while the
// shard goes on, in this process or in another one. Called by backups, by the log archive and by the log's tools.
//
// LMDB keeps the pages of a moment for as long as somebody reads there. So a transaction stays open while the checkpoint's rows
// are read, however long that takes; its file grows meanwhile by what changes. The rows themselves are read from the file,
// which takes a tenth of the library's processor time. All tables are copied as they are: nothing here knows what they mean.

import type { Frame } from '../disk/archive-file.ts';
import { damagedFile, dataFile, guardRead, openEnvironment } from '../disk/environment.ts';
import { partOf, type ShardIdentity } from '../disk/identity.ts';
import { FileDamage } from '../disk/lmdb-pages.ts';
import { CheckpointReader, newestSegmentIn } from './checkpoint/checkpoint-reader.ts';
import { tableNamesIn } from './checkpoint/checkpoint-rows.ts';
import { rowFrames } from './checkpoint/row-frames.ts';
import { readLog, type StoredBatch } from './log/follow.ts';
import { endOf, Segments } from './log/segments.ts';
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

  /** Opens the log of a journal. */
  constructor(options: CopyOptions) {
    this.#options = options;
    const { log } = foldersOfJournal(options.dir);
    this.#segments = new Segments(log, mapSizesOf(options).log, options.identity, 'read');
  }

  /** Throws `JournalDamaged` when the log's newest segment is gone: a copy would not show it. */
  refuseMissingSegment(): void {
    const newestSegment = newestSegmentIn(foldersOfJournal(this.#options.dir).checkpoint);
    // A segment that was begun since is found, too.
    this.#segments.refresh();
    refuseMissingSegment(this.#segments, { newestSegment });
  }

  /** The sequence that the log ends with: everything up to it is durable. Throws `JournalDamaged`. */
  get logEnd(): number {
    this.#segments.refresh();
    return endOf(this.#segments);
  }

  /** The first sequence of the oldest segment; one more than `logEnd` when there is none. */
  get logStart(): number {
    return this.#segments.list[0]?.firstSequence ?? 1;
  }

  /** The last sequence of the finished segments; nothing is added to these. */
  get finishedEnd(): number {
    return (this.#segments.list.at(-1)?.firstSequence ?? 1) - 1;
  }

  /** When the entry after this one was made, Unix milliseconds of wall time; null when there is none. */
  async timeAfter(sequence: number): Promise<number | null> {
    this.#segments.refresh();
    await this.#segments.forgetDropped();
    const after = Math.max(sequence, this.logStart - 1);
    for await (const [batch] of readLog(this.#segments, after, after + 1)) return batch?.wallMs ?? null;
    return null;
  }

  /**
   * The batches after `after`, up to the one with `upTo`; whoever asks may wait in between. With `onDropped`, which hears of it,
   * those are left out whose segment is dropped meanwhile. Throws `DamagedLog`.
   */
  async *batches(after: number, upTo: number, onDropped?: () => void): AsyncGenerator<StoredBatch> {
    const goOnAfter = async (last: number) => {
      await this.#segments.forgetDropped();
      if (onDropped === undefined || this.logStart - 1 <= last) return last;
      onDropped();
      return this.logStart - 1;
    };
    for await (const batches of readLog(this.#segments, after, upTo, goOnAfter)) yield* batches;
  }

  /**
   * The checkpoint as it is now, and the sequence that it reflects. Close it when its rows are read. A damaged file is
   * reported as `JournalDamaged`.
   */
  checkpoint(): { readonly sequence: number; rows(): AsyncGenerator<Frame>; close(): Promise<void> } {
    const { dir, identity } = this.#options;
    const folder = foldersOfJournal(dir).checkpoint;
    refuseDamaged(folder);
    const environment = openEnvironment({
      folder,
      part: partOf(identity, 'state'),
      mapSize: mapSizesOf(this.#options).state,
      readOnly: true,
      // Whoever writes it has checked it, and a file that is written looks damaged.
      check: 'none',
    });
    // It is begun before the file is looked at, so the pages of what is found there are not used again until it is done.
    const transaction = environment.useReadTransaction();
    const tables = guardRead(folder, () => tableNamesIn(environment));
    const reader = new CheckpointReader(folder);
    return {
      sequence: reader.sequence,
      async *rows() {
        try {
          yield* rowFrames(reader.file, tables);
        } catch (error) {
          throw damageIn(reader.file.path, error);
        }
      },
      async close() {
        reader.close();
        transaction.done();
        await environment.close();
      },
    };
  }

  async close(): Promise<void> {
    await this.#segments.close();
  }
}

/** The library ends the process of whoever opens a file whose first pages are damaged. */
function refuseDamaged(folder: string): void {
  try {
    const reader = new CheckpointReader(folder);
    try {
      void reader.sequence;
    } finally {
      reader.close();
    }
  } catch (error) {
    throw damageIn(dataFile(folder), error);
  }
}

function damageIn(file: string, error: unknown): unknown {
  return error instanceof FileDamage ? damagedFile(file, `byte ${error.at}: ${error.message}`) : error;
}
