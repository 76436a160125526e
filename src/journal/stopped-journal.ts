// A shard's journal while nothing writes it, or a backup's: everything can be read, and nothing is changed or recovered.
// Called by what examines or copies a whole data folder.

import { join } from 'node:path';
import type { LmdbCheckpoint } from './checkpoint/checkpoint.ts';
import { nowhere, type ReplayedEntry, type ResponseLocation, type StoredResponse } from './journal.ts';
import { damagedFile, dataFile } from './lmdb/environment.ts';
import { fileDefect } from './lmdb/page-check.ts';
import { entriesAfter, readLog } from './log/follow.ts';
import { readStoredResponse, Segments } from './log/segments.ts';
import {
  foldersOfJournal,
  type JournalOptions,
  mapSizesOf,
  openCheckpoint,
  refuseMissingSegment,
} from './open-journal.ts';

export interface StoppedJournal {
  readonly checkpoint: LmdbCheckpoint;
  /**
   * The entries of the log that the checkpoint does not reflect, some at a time. Throws `JournalDamaged` where the log is
   * damaged.
   */
  replay(): AsyncIterable<readonly ReplayedEntry[]>;
  /** As `Log.readResponse`. */
  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined;
}

/**
 * Opens a journal, has `use` read it, and closes it. Every page of the checkpoint is checked first. Rejects with
 * `ForeignPart` when a part of it belongs elsewhere, and with `JournalDamaged` when the checkpoint is damaged.
 */
export async function readStoppedJournal<T>(
  options: JournalOptions,
  use: (journal: StoppedJournal) => T | Promise<T>,
): Promise<T> {
  const { dir, identity } = options;
  const mapSizes = mapSizesOf(options);
  refuseDamaged(dataFile(foldersOfJournal(dir).checkpoint));
  const checkpoint = openCheckpoint({ ...options, isChecked: true });
  const segments = new Segments(join(dir, 'log'), mapSizes.log, identity, 'read');
  try {
    return await use({
      checkpoint,
      async *replay() {
        refuseMissingSegment(segments, checkpoint);
        const newest = segments.list.at(-1);
        if (newest !== undefined) refuseDamaged(dataFile(newest.folder));
        const after = checkpoint.sequence;
        for await (const batches of readLog(segments, after))
          yield batches.flatMap((batch) => entriesAfter(batch, after));
      },
      readResponse(location, keyDigest) {
        if (location.record === nowhere.record) return undefined;
        const segment = segments.holding(location.record);
        const stored = segment && readStoredResponse(segments.open(segment), segment, location, keyDigest);
        return stored ?? checkpoint.movedResponse(location, keyDigest);
      },
    });
  } finally {
    await Promise.all([segments.close(), checkpoint.close()]);
  }
}

function refuseDamaged(file: string): void {
  const defect = fileDefect(file, 'leaves');
  if (defect !== null) throw damagedFile(file, defect);
}
