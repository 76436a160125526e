// A partition as a node holds it that stands by: a mirror of the log, and a checkpoint that follows
// it, so that the node has little left to do when it becomes the owner.

import { join } from 'node:path';
import { systemScheduler } from '../core/scheduler.ts';
import { type ArchivedEnd, CheckpointFollower } from './checkpoint/checkpoint-follower.ts';
import type { HeldCheckpoint } from './journal.ts';
import { endOfBatch, readBatchHeader } from './log/codec.ts';
import { EpochFile } from './log/epoch-file.ts';
import { followedLog } from './log/follow.ts';
import { SegmentedLog } from './log/log.ts';
import { mirrorBatch, mirroredEnd, refuseDivergence } from './log/mirror.ts';
import { markMirror } from './log/mirror-mark.ts';
import { Segments } from './log/segments.ts';
import {
  checkedDepth,
  createJournal,
  type JournalOptions,
  mapSizesOf,
  openCheckpoint,
  refuseMissingSegment,
  segmentSettings,
} from './open-journal.ts';
import type { AcquiredLog } from './remote-log.ts';

export interface StandbyJournal {
  /** The last sequence of the mirror. */
  readonly sequence: number;
  /** Of the batch that the mirror ends with; null when only the checkpoint tells where it ends. */
  readonly checksum: number | null;
  /**
   * Rejects with `JournalDamaged` for a mirror that is not a beginning of the log: the log has lost
   * acknowledged data then (`isRemote`). Also for one that ends before what the log still has, as
   * the files here are too old.
   */
  refuseDivergence(
    found: Pick<AcquiredLog, 'end' | 'firstSequence'>,
    checksumAt: (sequence: number) => Promise<number | null>,
  ): Promise<void>;
  /**
   * Appends commit batches that are acknowledged, the next ones. Rejects with `JournalDamaged` when
   * one came damaged, and with `JournalFailure` when the disk does not take them.
   */
  append(batches: readonly Buffer[]): Promise<void>;
  /** Brings the checkpoint up to the mirror's end. Rejects with `JournalDamaged` of files here. */
  checkpoint(): Promise<void>;
  /** Drops what is older by so much than the newest batch, as an owner does: see `Checkpointer`. */
  drop(keptMs: number): Promise<void>;
  /** See `FiledJournal`. */
  holdCheckpoint(): HeldCheckpoint;
  close(): Promise<void>;
}

/** Creates what is missing. Rejects with `JournalDamaged`, or with an I/O error of the disk. */
export async function openStandby(
  options: JournalOptions & { readonly archived?: ArchivedEnd },
): Promise<StandbyJournal> {
  const { dir, identity, scheduler = systemScheduler, logBytesMax } = options;
  const { log: logMapSize, state } = mapSizesOf(options);
  await createJournal(dir, identity, state);
  const checkpoint = openCheckpoint(options);
  const segments = new Segments(join(dir, 'log'), logMapSize, identity, 'write', checkedDepth(options));
  const log = followedLog(segments);
  const follower = new CheckpointFollower(log, checkpoint, scheduler, logBytesMax, options.archived);
  const mirror = new SegmentedLog({
    segments,
    epochFile: new EpochFile(dir),
    onSegment: (firstSequence) => follower.noteSegment(firstSequence),
    movedResponse: () => undefined,
    ...segmentSettings(options),
  });
  const close = async () => {
    await mirror.close();
    await follower.close();
  };
  try {
    refuseMissingSegment(segments, checkpoint);
    let end = mirroredEnd(mirror, checkpoint.sequence);
    let newestMs: number | null = null;
    markMirror(dir);
    mirror.start(end.sequence + 1);
    return {
      get sequence() {
        return end.sequence;
      },
      get checksum() {
        return end.checksum;
      },
      refuseDivergence: (found, checksumAt) => refuseDivergence(identity.shard, end, found, checksumAt),
      async append(batches) {
        await Promise.all(batches.map((bytes) => mirrorBatch(mirror, identity, bytes)));
        const newest = batches.at(-1);
        if (newest === undefined) return;
        end = endOfBatch(newest);
        newestMs = readBatchHeader(newest).timeMs;
      },
      async checkpoint() {
        await follower.write(end.sequence);
      },
      async drop(keptMs) {
        if (newestMs !== null) await follower.drop(newestMs - keptMs);
      },
      holdCheckpoint: () => checkpoint.hold(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
