// Archives one part of a data folder, a shard's log or the directory's changes: a follower that
// writes what is in it into files, when a segment is finished, and at the latest when the oldest
// change that is not archived has reached an age. That age is the most that is lost with the
// machine. A file counts as archived when it is on disk and the operator's command, if there is
// one, has taken it; until then the log keeps what is in it. An archive is of one history alone.

import { crc32 } from 'node:zlib';
import { assert } from '../core/assert.ts';
import type { Clocks } from '../core/clock.ts';
import { type ArchivePosition, notePosition, positionIn } from '../data-folder/archive-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import type { NotedEnd } from '../data-folder/sequence-notes.ts';
import { changesAfter } from '../directory/change-log.ts';
import { revisionOf } from '../directory/directory-store.ts';
import type { WriteOptions } from '../disk/archive-file.ts';
import type { Part } from '../disk/identity.ts';
import type { RowStore } from '../disk/row-store.ts';
import { makeFolder } from '../disk/sync-path.ts';
import { lastFiledIn, logFilesIn, type Sequenced, writeLogFile } from '../journal/log-files.ts';
import type { JournalCopy } from '../journal/stopped-journal.ts';

/** What is archived. */
export interface ArchiveSource {
  /** The first and the last sequence that can be read. */
  ends(): { readonly first: number; readonly last: number };
  /** Makes durable what can be read: a commit is seen before it is on the disk. */
  sync(): void;
  /** The last sequence that nothing will be added to: the end of the last finished segment. */
  finished(): number;
  /** When the entry after this one was made, Unix milliseconds. */
  timeAfter(sequence: number): Promise<number | null>;
  /** `onGap` hears of what can't be read any more. */
  read(after: number, upTo: number, onGap: ArchiverOptions['onGap']): AsyncGenerator<Sequenced>;
  /**
   * The checksum of what ends with this sequence; null when nothing does, and undefined when that
   * can't be told any more.
   */
  checksumAt(sequence: number): number | null | undefined;
}

/** How often it is noted that all is archived while nothing new is. */
const untilNotedMs = 60_000;

interface ArchiverOptions {
  readonly source: ArchiveSource;
  readonly folder: string;
  readonly part: Part;
  readonly type: 'batch' | 'rows';
  readonly write: WriteOptions;
  readonly ageMaxMs: number;
  readonly clocks: Pick<Clocks, 'wall' | 'monotonic'>;
  /** Carries a file away, or keeps it; rejects when that is to be tried again. */
  readonly carry: (path: string) => Promise<void>;
  /** Changes that are in no file and can't be read any more: only a new backup has them. */
  readonly onGap: (first: number, last: number) => void;
}

export class Archiver {
  readonly #options: ArchiverOptions;
  /** The last sequence that is archived; null while the archive could not be opened. */
  #archived: number | null = null;
  /** The last sequence that is in a file. */
  #written = 0;
  /** The end of the last file, as far as it is known. */
  #end: NotedEnd | undefined;
  /** All that was acknowledged before that is archived, as far as it is noted. */
  #untilMs: number | undefined;
  /** How far the log went at a moment by the monotonic clock, while not all of that is archived. */
  #waiting: { readonly upTo: number; readonly sinceMs: number } | null = null;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    try {
      this.#open();
    } catch {
      // `run` tries again, and tells.
    }
  }

  /** The last sequence that is archived; 0 while that is not known. */
  get archived(): number {
    return this.#archived ?? 0;
  }

  /**
   * How old the oldest change is that is not archived, milliseconds; 0 when all are. While the
   * archive can't be opened, none counts as archived. One that was made while the clock was ahead
   * is as old as the time for which it has been seen.
   */
  async lagMs(): Promise<number> {
    const { source, clocks } = this.#options;
    const { first, last } = source.ends();
    const archived = this.#archived ?? first - 1;
    const nowMs = clocks.monotonic();
    if (this.#waiting === null || archived >= this.#waiting.upTo)
      this.#waiting = archived < last ? { upTo: last, sinceMs: nowMs } : null;
    if (this.#waiting === null) return 0;
    const madeMs = await source.timeAfter(archived);
    return madeMs === null ? 0 : Math.max(nowMs - this.#waiting.sinceMs, clocks.wall() - madeMs);
  }

  /** Archives what is due. Rejects when that is to be tried again. */
  async run(): Promise<void> {
    const { folder } = this.#options;
    // Another archive came to its place, as when a disk is mounted behind the start of the service.
    if (positionIn(folder).sequence !== this.#archived) this.#archived = null;
    if (this.#archived === null) this.#open();
    await this.#carry();
    const { source, ageMaxMs, clocks } = this.#options;
    const nowMs = clocks.wall();
    const { first, last } = source.ends();
    if (this.#written < first - 1) {
      this.#options.onGap(this.#written + 1, first - 1);
      this.#written = first - 1;
    }
    const upTo = (await this.lagMs()) >= ageMaxMs ? last : source.finished();
    if (upTo > this.#written) {
      // A power cut must not leave the archive ahead of the log.
      source.sync();
      await this.#write(upTo);
      await this.#carry();
    }
    if (this.archived >= last) this.#noteUntil(nowMs);
  }

  /** Finds how far the archive has come. Throws when it is away, or is of another log. */
  #open(): void {
    const { folder, source } = this.#options;
    makeFolder(folder);
    const position = positionIn(folder);
    // A file that was written, and not carried away before the process ended, is there.
    const written = Math.max(position.sequence, lastFiledIn(folder));
    if (!continues(source, position, written)) {
      if (!position.isOfOtherLog) notePosition(folder, { ...position, isOfOtherLog: true });
      throw new DataFolderError(
        `the log does not go on where ${folder} ends, at ${written}: the data folder is from an earlier moment, ` +
          'or has gone another way since. Stop the service, move this archive away, and make a new backup',
      );
    }
    this.#archived = position.sequence;
    this.#written = written;
    this.#end = position.end;
    this.#untilMs = position.untilMs;
    if (position.isOfOtherLog) this.#note();
  }

  async #write(upTo: number): Promise<void> {
    const { source, folder, part, type, write, onGap } = this.#options;
    let gapEnd = 0;
    const entries = source.read(this.#written, upTo, (first, last) => {
      gapEnd = last;
      onGap(first, last);
    });
    for (;;) {
      const written = await writeLogFile(folder, part, entries, { type, ...write });
      if (written === null) break;
      const next = Math.max(this.#written, gapEnd) + 1;
      assert(written.first <= next, 'the archive leaves out no entry that can be read');
      this.#written = written.last;
    }
    // Behind it there may be nothing yet.
    this.#written = Math.max(this.#written, gapEnd);
    this.#end = { sequence: this.#written, checksum: source.checksumAt(this.#written) ?? null };
    this.#note();
  }

  async #carry(): Promise<void> {
    const { folder, carry } = this.#options;
    for (const { path, last } of logFilesIn(folder)) {
      if (last <= this.archived) continue;
      await carry(path);
      this.#archived = last;
      this.#note();
    }
  }

  #noteUntil(nowMs: number): void {
    // The clock may have been put back.
    if (Math.abs(nowMs - (this.#untilMs ?? 0)) < untilNotedMs) return;
    this.#untilMs = nowMs;
    this.#note();
  }

  #note(): void {
    notePosition(this.#options.folder, { sequence: this.archived, end: this.#end, untilMs: this.#untilMs });
  }
}

/**
 * The lag of each part. None is told when one can't be known, because what it is to archive next is
 * damaged: that of the others would look as if all went well.
 */
export async function lagsOf(archivers: ReadonlyMap<string, Archiver>): Promise<Map<string, number>> {
  const lags = new Map<string, number>();
  try {
    for (const [part, archiver] of archivers) lags.set(part, await archiver.lagMs());
  } catch {
    // `run` meets the same, and tells.
    lags.clear();
  }
  return lags;
}

/** Whether a log goes on where an archive or a backup of it ends, as far as that can be told. */
export function continues(
  source: ArchiveSource,
  { end, isOfOtherLog }: Omit<ArchivePosition, 'sequence'>,
  written: number,
): boolean {
  if (source.ends().last < written) return false;
  const found = end?.checksum == null ? undefined : source.checksumAt(end.sequence);
  return found === undefined ? !isOfOtherLog : found === end?.checksum;
}

/** A shard's log, as it is read beside a service that goes on writing it. */
export function shardSource(copy: JournalCopy): ArchiveSource {
  return {
    ends: () => ({ last: copy.logEnd, first: copy.logStart }),
    sync: () => copy.sync(),
    finished: () => copy.finishedEnd,
    timeAfter: (sequence) => copy.timeAfter(sequence),
    read: (after, upTo, onGap) => copy.batches(after, upTo, onGap),
    checksumAt: (sequence) => copy.checksumAt(sequence),
  };
}

/** The changes of the directory, likewise. */
export function directorySource(directory: RowStore): ArchiveSource {
  return {
    ends() {
      const last = revisionOf(directory);
      const [oldest] = changesAfter(directory, 0);
      return { first: oldest?.firstSequence ?? last + 1, last };
    },
    sync: () => directory.sync(),
    finished: () => 0,
    async timeAfter(revision) {
      const [change] = changesAfter(directory, revision);
      return change?.timeMs ?? null;
    },
    async *read(after, upTo) {
      const changes = [...changesAfter(directory, after)];
      yield* changes.filter(({ lastSequence }) => lastSequence <= upTo);
    },
    checksumAt(revision) {
      const [change] = changesAfter(directory, revision - 1);
      if (change === undefined || change.firstSequence > revision) return undefined;
      return change.lastSequence === revision ? crc32(change.bytes) : null;
    },
  };
}
