// What can be done with a shard's journal while nothing writes it: look at it before a start, read
// all of it, compact it, give up a damaged end, and build it from a backup. `JournalCopy` alone
// looks at one that a running service writes.

import { join } from 'node:path';
import { damagedFile, dataFile } from '../disk/environment.ts';
import { fileDefect } from '../disk/file-check.ts';
import { ForeignPart, type ShardIdentity } from '../disk/identity.ts';
import type { LmdbCheckpoint } from './checkpoint/checkpoint.ts';
import { checkpointFolderIn, removeOtherCheckpoints } from './checkpoint/checkpoint-folder.ts';
import { CheckpointReader } from './checkpoint/checkpoint-reader.ts';
import type { IndexRowsOf } from './checkpoint/index-table.ts';
import {
  type CheckpointSizes,
  JournalDamaged,
  nowhere,
  type ReplayedEntry,
  type ReportCompaction,
  type ResponseLocation,
  type StoredResponse,
} from './journal.ts';
import { checkedHeader, decodeBatch } from './log/codec.ts';
import { followedLog, recoverLog, refuseDamagedEnd } from './log/follow.ts';
import { checksumAt, endOf, readStoredResponse, Segments } from './log/segments.ts';
import {
  acceptMissingSegment,
  checkedDepth,
  foldersOfJournal,
  type JournalOptions,
  mapSizesOf,
  openCheckpoint,
  refuseMissingSegment,
} from './open-journal.ts';

export {
  checkpointSequenceIn,
  newestSegmentIn,
  recordsIn,
  storedState,
} from './checkpoint/checkpoint-reader.ts';
export { rowsOfBlock } from './checkpoint/row-blocks.ts';
export { JournalCopy } from './copy-journal.ts';
export { type DamagedEnd, truncateDamagedEnd } from './log/truncate-log.ts';
export { type EncodedRecord, encodeRecord, organizationOf } from './records/record-bytes.ts';
export { type KeptBatch, restoreCheckpoint, restoreLog } from './restore-journal.ts';

export interface StoppedJournal {
  readonly checkpoint: LmdbCheckpoint;
  readonly reader: CheckpointReader;
  /** The entries that the checkpoint does not reflect, some at a time. Throws `JournalDamaged`. */
  replay(): AsyncIterable<readonly ReplayedEntry[]>;
  /** As `Log.readResponse`. */
  readResponse(location: ResponseLocation, keyDigest: Uint8Array): StoredResponse | undefined;
}

/**
 * Has `use` read a journal. Every page of the checkpoint is checked first. Rejects with
 * `ForeignPart` when a part belongs elsewhere, and with `JournalDamaged`.
 */
export async function readStoppedJournal<T>(
  options: JournalOptions,
  use: (journal: StoppedJournal) => T | Promise<T>,
): Promise<T> {
  const { dir, identity } = options;
  const mapSizes = mapSizesOf(options);
  const folder = foldersOfJournal(dir).checkpoint;
  refuseDamaged(dataFile(folder));
  const checkpoint = openCheckpoint({ ...options, isChecked: true });
  const reader = new CheckpointReader(folder);
  const segments = new Segments(join(dir, 'log'), mapSizes.log, identity, 'read-stopped');
  try {
    checkSegments(segments, checkpoint.sequence);
    return await use({
      checkpoint,
      reader,
      async *replay() {
        refuseMissingSegment(segments, checkpoint);
        yield* recoverLog(followedLog(segments), checkpoint.sequence);
      },
      readResponse(location, keyDigest) {
        if (location.record === nowhere.record) return undefined;
        const segment = segments.holding(location.record);
        const stored = segment && readStoredResponse(segments.open(segment), segment, location, keyDigest);
        return stored ?? checkpoint.movedResponse(location, keyDigest);
      },
    });
  } finally {
    reader.close();
    await Promise.all([segments.close(), checkpoint.close()]);
  }
}

export interface InspectedJournal {
  readonly checkpoint: Pick<LmdbCheckpoint, 'sequence' | 'getMetadata' | 'listAfter'>;
  /** Throws `JournalDamaged`. */
  readonly logEnd: number;
  /** See `checksumAt` of the segments. */
  checksumAt(sequence: number): number | null | undefined;
  /** All files are whole, so that the journal can be opened with `isChecked`. */
  readonly isWhole: boolean;
  /** Throws `JournalDamaged` when the log's newest segment is gone. */
  refuseMissingSegment(): void;
  /** Throws `JournalDamaged` when the log's last batch is damaged. */
  refuseDamagedEnd(): void;
  /** Reads what a start replays. Rejects with `JournalDamaged` where that would. */
  readLog(): Promise<void>;
  /** Gives up a newest segment that is gone, and returns its folder; null when it is there. */
  acceptMissingSegment(): string | null;
  /** Has a log that ends before the checkpoint go on behind that. */
  acceptShortLog(): Promise<void>;
  /** The organizations with records in the log beyond the checkpoint. */
  organizationsInLog(): Set<string>;
}

/** Has `look` look at a journal. Rejects as `readStoppedJournal` does. */
export async function inspectJournal<T>(
  options: JournalOptions,
  look: (journal: InspectedJournal) => T | Promise<T>,
): Promise<T> {
  const { dir, identity } = options;
  const checkpoint = openCheckpoint(options);
  const { log: mapSize } = mapSizesOf(options);
  const segments = new Segments(join(dir, 'log'), mapSize, identity, 'write', checkedDepth(options));
  try {
    const isWhole = checkSegments(segments, checkpoint.sequence);
    return await look({
      checkpoint,
      get logEnd() {
        return endOf(segments);
      },
      checksumAt: (sequence) => checksumAt(segments, sequence),
      isWhole,
      refuseMissingSegment: () => refuseMissingSegment(segments, checkpoint),
      refuseDamagedEnd: () => refuseDamagedEnd(segments),
      async readLog() {
        refuseMissingSegment(segments, checkpoint);
        for await (const _ of recoverLog(followedLog(segments), checkpoint.sequence));
      },
      acceptMissingSegment: () => acceptMissingSegment(segments, checkpoint),
      async acceptShortLog() {
        await segments.create(checkpoint.sequence + 1);
      },
      organizationsInLog: () => organizationsAfter(segments, checkpoint.sequence),
    });
  } finally {
    await Promise.all([segments.close(), checkpoint.close()]);
  }
}

/**
 * Opens every segment, and checks those that are replayed after `sequence` to the last page.
 * Whether all are whole: one that is not is found again by whoever needs it. Throws `ForeignPart`.
 */
function checkSegments(segments: Segments, sequence: number): boolean {
  const first = segments.holding(sequence + 1)?.firstSequence ?? 0;
  let isWhole = true;
  for (const segment of segments.list) {
    try {
      segments.open(segment, segment.firstSequence < first ? 'branches' : 'leaves');
    } catch (error) {
      if (error instanceof ForeignPart || !(error instanceof JournalDamaged)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}

function organizationsAfter(segments: Segments, sequence: number): Set<string> {
  const found = new Set<string>();
  const start = segments.list.findLastIndex(({ firstSequence }) => firstSequence <= sequence + 1);
  for (const segment of segments.list.slice(Math.max(0, start))) {
    for (const { key, value } of segments.open(segment).getRange({ start: 1 })) {
      if (typeof checkedHeader(value, key, segments.tag) === 'string') continue;
      for (const entry of decodeBatch(value))
        if (entry.sequence > sequence) for (const { org } of entry.changes) found.add(org);
    }
  }
  return found;
}

/** Rejects with `JournalDamaged` or `JournalFailure`; the checkpoint is then as it was. */
export async function compactCheckpoint(
  dir: string,
  identity: ShardIdentity,
  indexRowsOf: IndexRowsOf,
  report: ReportCompaction,
): Promise<CheckpointSizes> {
  removeOtherCheckpoints(dir);
  refuseDamaged(dataFile(checkpointFolderIn(dir)));
  const checkpoint = openCheckpoint({ dir, identity, indexRowsOf, isChecked: true });
  try {
    // The checkpoint does not change meanwhile.
    return await checkpoint.compact(async () => {}, report);
  } finally {
    await checkpoint.close();
  }
}

function refuseDamaged(file: string): void {
  const defect = fileDefect(file, 'leaves');
  if (defect !== null) throw damagedFile(file, defect);
}
