// Archives one part of a data folder, a shard's log or the directory's changes: a follower that
// writes what is durable into files, when a segment is finished, and at the latest when the oldest
// change that is not archived has reached an age. That age is the most that is lost with the
// machine. A file counts as archived when it is on disk and the operator's command, if there is
// one, has taken it; until then the log keeps what is in it.

import { assert } from '../core/assert.ts';
import { archivedSequence, noteArchived } from '../data-folder/archive-folder.ts';
import { changesAfter } from '../directory/change-log.ts';
import { revisionOf } from '../directory/directory-store.ts';
import type { WriteOptions } from '../disk/archive-file.ts';
import type { Part } from '../disk/identity.ts';
import type { RowStore } from '../disk/row-store.ts';
import { makeFolder } from '../disk/sync-path.ts';
import { logFilesIn, type Sequenced, writeLogFile } from '../journal/log-files.ts';
import type { JournalCopy } from '../journal/stopped-journal.ts';

/** What is archived. */
export interface ArchiveSource {
  /** The first sequence that can still be read, and the last one that is durable. */
  ends(): { readonly first: number; readonly last: number };
  /** The last sequence that nothing will be added to: the end of the last finished segment. */
  finished(): number;
  /** When the entry after this one was made, Unix milliseconds. */
  timeAfter(sequence: number): Promise<number | null>;
  read(after: number, upTo: number): AsyncGenerator<Sequenced>;
}

interface ArchiverOptions {
  readonly source: ArchiveSource;
  readonly folder: string;
  readonly part: Part;
  readonly type: 'batch' | 'rows';
  readonly write: WriteOptions;
  readonly ageMaxMs: number;
  readonly now: () => number;
  /** Carries a file away, or keeps it; rejects when that is to be tried again. */
  readonly carry: (path: string) => Promise<void>;
  /** Changes that are in no file and can't be read any more: only a new backup has them. */
  readonly onGap: (first: number, last: number) => void;
}

const fileBytesMax = 64 << 20;

export class Archiver {
  readonly #options: ArchiverOptions;
  /** The last sequence that is in a file. */
  #written: number;
  #archived: number;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    const { folder } = options;
    makeFolder(folder);
    this.#archived = archivedSequence(folder);
    // A file that was written, and not carried away before the process ended, is there.
    this.#written = Math.max(this.#archived, logFilesIn(folder).at(-1)?.last ?? 0);
  }

  /** The last sequence that is archived. */
  get archived(): number {
    return this.#archived;
  }

  /** How old the oldest change is that is not archived, milliseconds; 0 when all are. */
  async lagMs(): Promise<number> {
    const { source, now } = this.#options;
    if (this.#archived >= source.ends().last) return 0;
    const madeMs = await source.timeAfter(this.#archived);
    return madeMs === null ? 0 : Math.max(0, now() - madeMs);
  }

  /** Archives what is due. Rejects when that is to be tried again. */
  async run(): Promise<void> {
    await this.#carry();
    const { source, ageMaxMs } = this.#options;
    const { first, last } = source.ends();
    if (this.#written < first - 1) {
      this.#options.onGap(this.#written + 1, first - 1);
      this.#written = first - 1;
    }
    const upTo = (await this.lagMs()) >= ageMaxMs ? last : source.finished();
    if (upTo <= this.#written) return;
    await this.#write(upTo);
    await this.#carry();
  }

  async #write(upTo: number): Promise<void> {
    const { source, folder, part, type, write } = this.#options;
    const entries = source.read(this.#written, upTo);
    for (;;) {
      const written = await writeLogFile(folder, part, type, entries, fileBytesMax, write);
      if (written === null) return;
      assert(written.first <= this.#written + 1, 'the archive leaves out no entry');
      this.#written = written.last;
    }
  }

  async #carry(): Promise<void> {
    const { folder, carry } = this.#options;
    for (const { path, last } of logFilesIn(folder)) {
      if (last <= this.#archived) continue;
      await carry(path);
      this.#archived = last;
      noteArchived(folder, last);
    }
  }
}

/** A shard's log, as it is read beside a service that goes on writing it. */
export function shardSource(copy: JournalCopy): ArchiveSource {
  return {
    ends: () => ({ last: copy.logEnd, first: copy.logStart }),
    finished: () => copy.finishedEnd,
    timeAfter: (sequence) => copy.timeAfter(sequence),
    read: (after, upTo) => copy.batches(after, upTo),
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
    finished: () => 0,
    timeAfter: async (revision) => changesAfter(directory, revision).next().value?.timeMs ?? null,
    async *read(after, upTo) {
      const changes = [...changesAfter(directory, after)];
      yield* changes.filter(({ lastSequence }) => lastSequence <= upTo);
    },
  };
}
