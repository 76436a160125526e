// Opens what one shard keeps on disk: the log in `<dir>/log`, and the checkpoint beside it. The
// shard does so when it starts, and after a failure. `replay` reads and checks what the log holds
// beyond the checkpoint.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Scheduler, systemScheduler } from '../core/scheduler.ts';
import { createEnvironment, dataFile, restoreAdvice } from '../disk/environment.ts';
import type { CheckDepth } from '../disk/file-check.ts';
import { ForeignPart, partOf, type ShardIdentity } from '../disk/identity.ts';
import { syncPath } from '../disk/sync-path.ts';
import { LmdbCheckpoint } from './checkpoint/checkpoint.ts';
import { checkpointFolderIn, removeOtherCheckpoints } from './checkpoint/checkpoint-folder.ts';
import { type ArchivedEnd, CheckpointFollower } from './checkpoint/checkpoint-follower.ts';
import type { IndexRowsOf } from './checkpoint/index-table.ts';
import { type Checkpointer, type FiledJournal, JournalDamaged } from './journal.ts';
import { EpochFile } from './log/epoch-file.ts';
import { followedLog, recoverLog } from './log/follow.ts';
import { SegmentedLog } from './log/log.ts';
import type { LogEngine } from './log/log-engine.ts';
import { markMirror, refuseMirror } from './log/mirror-mark.ts';
import { ReplicatedLog, type ReplicatedLogOptions } from './log/replicated-log.ts';
import { Segments } from './log/segments.ts';
import { WriteAheadLog } from './log/write-ahead-log.ts';
import type { RemoteLog } from './remote-log.ts';

/** A folder notes the layouts of its records, so that no older service opens it. */
export { metadataIn } from './checkpoint/checkpoint-reader.ts';
export { isMirror, markMirror } from './log/mirror-mark.ts';
export { layoutVersions, recordFields } from './records/record-layout.ts';

export interface JournalOptions extends ReplicatedLogOptions {
  /** The shard's folder; created if need be. */
  readonly dir: string;
  readonly identity: ShardIdentity;
  readonly indexRowsOf: IndexRowsOf;
  /** A segment with more, or one that is older than a day, is followed by a new one. */
  readonly segmentBytesMax?: number;
  /**
   * With more, the oldest segments go early, and their stored responses move to the checkpoint.
   * None: by age only.
   */
  readonly logBytesMax?: number;
  /** Address space for each segment, and for the checkpoint. Neither limits what can be stored. */
  readonly mapSizes?: { readonly log?: number; readonly state?: number };
  /** This process has just checked the files, see `inspectJournal`. */
  readonly isChecked?: boolean;
  /** Hears of what the checkpoint drops because it has expired, and is damaged. */
  readonly onDamage?: (damage: JournalDamaged) => void;
  /** Other machines hold the log, too; it lies there first, and its mirror in the folder. */
  readonly remote?: RemoteLog;
  /** Keeps the checkpoint, in another thread; this thread does without one. */
  readonly checkpointer?: Checkpointer;
  /** The thread's own unless a test decides what runs next. */
  readonly scheduler?: Scheduler;
}

const megabyte = 1 << 20;
const dayMs = 24 * 60 * 60 * 1_000;
const defaultSegmentBytesMax = 256 * megabyte;
const stateMapSize = 65_536 * megabyte;

export function mapSizesOf({ segmentBytesMax = defaultSegmentBytesMax, mapSizes }: Partial<JournalOptions>) {
  const log = mapSizes?.log ?? Math.max(2 * segmentBytesMax, 64 * megabyte);
  return { log, state: mapSizes?.state ?? stateMapSize };
}

/** When a segment is followed by a new one. */
export function segmentSettings({ segmentBytesMax = defaultSegmentBytesMax }: Partial<JournalOptions>) {
  return { segmentBytesMax, segmentAgeMaxMs: dayMs };
}

/** Makes what is missing of a journal: an empty log, an empty checkpoint, durably. */
export async function createJournal(
  dir: string,
  identity: ShardIdentity,
  mapSize = stateMapSize,
): Promise<void> {
  mkdirSync(join(dir, 'log'), { recursive: true });
  const { checkpoint } = foldersOfJournal(dir);
  if (!existsSync(checkpoint)) await createEnvironment(checkpoint, mapSize, partOf(identity, 'state'));
  for (const folder of [dir, dirname(dir)]) syncPath(folder);
}

export function foldersOfJournal(dir: string): { readonly log: string; readonly checkpoint: string } {
  return { log: join(dir, 'log'), checkpoint: checkpointFolderIn(dir) };
}

/** What a journal that was created consists of: one that lacks any of it has lost something. */
export function partsOfJournal(dir: string): string[] {
  const { log, checkpoint } = foldersOfJournal(dir);
  return [dir, log, checkpoint, dataFile(checkpoint)];
}

/** Rejects with `JournalDamaged` or, when the disk refuses, an I/O error. */
export async function openJournal(options: JournalOptions): Promise<FiledJournal> {
  const { dir, identity } = options;
  const { log: logMapSize, state: mapSize } = mapSizesOf(options);
  await createJournal(dir, identity, mapSize);
  if (options.remote === undefined) refuseMirror(dir);
  removeOtherCheckpoints(dir);
  const checkpoint = openCheckpoint(options);
  const segments = new Segments(join(dir, 'log'), logMapSize, identity, 'write', checkedDepth(options));
  try {
    refuseMissingSegment(segments, checkpoint);
    const follower =
      options.checkpointer ??
      new CheckpointFollower(
        followedLog(segments),
        checkpoint,
        options.scheduler ?? systemScheduler,
        options.logBytesMax,
      );
    const checkpointer = inStep(follower, segments, checkpoint, {
      durable: (sequence) => engine.durable(sequence),
      noteMetadata: (values) => replicated?.noteMetadata(values),
    });
    const onSegment = (firstSequence: number) => checkpointer.noteSegment(firstSequence);
    const mirror = new SegmentedLog({
      segments,
      epochFile: new EpochFile(dir),
      onSegment,
      movedResponse: (location, keyDigest) => checkpoint.movedResponse(location, keyDigest),
      ...segmentSettings(options),
    });
    const replicated = options.remote && new ReplicatedLog(options.remote, mirror, identity, options);
    const engine: LogEngine = replicated ?? mirror;
    const log = new WriteAheadLog(engine, identity);
    const ownership = await engine.acquire(checkpoint.sequence);
    if (replicated !== undefined) {
      markMirror(dir);
      await follower.putMetadata(replicated.notedMetadata);
      checkpoint.renew();
    }
    const start = (nextSequence: number) => {
      engine.start(nextSequence);
      log.start(nextSequence, ownership);
    };
    if (segments.list.length === 0) start(checkpoint.sequence + 1);
    return {
      ownership,
      log,
      checkpoint,
      checkpointer,
      async *replay() {
        start(yield* recoverLog(engine, checkpoint.sequence));
      },
      holdCheckpoint: () => checkpoint.hold(),
      async close() {
        await log.close();
        try {
          await options.checkpointer?.close();
        } finally {
          await checkpoint.close();
        }
      },
    };
  } catch (error) {
    await Promise.all([segments.close(), checkpoint.close()]);
    throw error;
  }
}

/** Keeps the checkpoint of a journal that another thread of this process has opened. */
export function openFollower(
  options: JournalOptions,
  archived: ArchivedEnd = () => Number.POSITIVE_INFINITY,
): CheckpointFollower {
  const { dir, identity, scheduler = systemScheduler } = options;
  const { log } = mapSizesOf(options);
  const segments = new Segments(join(dir, 'log'), log, identity, 'read', checkedDepth(options));
  return new CheckpointFollower(
    followedLog(segments),
    openCheckpoint({ ...options, isChecked: true }),
    scheduler,
    options.logBytesMax,
    archived,
  );
}

export function checkedDepth({ isChecked = false }: Pick<JournalOptions, 'isChecked'>): CheckDepth {
  return isChecked ? 'leaves' : 'none';
}

/** This thread sees what the follower has done, wherever that runs. */
function inStep(
  follower: Checkpointer,
  segments: Segments,
  checkpoint: LmdbCheckpoint,
  engine: Pick<LogEngine, 'durable'> & Pick<ReplicatedLog, 'noteMetadata'>,
): Checkpointer {
  return {
    async write(sequence) {
      await engine.durable(sequence);
      // Whoever follows the log takes its newest batch for acknowledged once this is told.
      engine.noteMetadata(new Map());
      const written = await follower.write(sequence);
      checkpoint.renew();
      return written;
    },
    async drop(olderThanMs) {
      const firstSequence = await follower.drop(olderThanMs);
      await segments.forgetBefore(firstSequence);
      return firstSequence;
    },
    putMetadata(values) {
      engine.noteMetadata(values);
      return follower.putMetadata(values);
    },
    noteSegment: (firstSequence) => follower.noteSegment(firstSequence),
    async compact(report) {
      const sizes = await follower.compact(report);
      checkpoint.renew();
      return sizes;
    },
    close: () => follower.close(),
  };
}

type NotingSegment = Pick<LmdbCheckpoint, 'newestSegment'>;

/**
 * The folder of the newest segment when that is gone, else null. Nothing but the checkpoint's note
 * tells.
 */
function missingSegment(segments: Segments, checkpoint: NotingSegment): string | null {
  const noted = checkpoint.newestSegment;
  return newestOf(segments) < noted ? segments.folderOf(noted) : null;
}

/** Gives up a newest segment that is gone, and returns its folder; null when it is there. */
export function acceptMissingSegment(segments: Segments, checkpoint: LmdbCheckpoint): string | null {
  const missing = missingSegment(segments, checkpoint);
  if (missing !== null) checkpoint.noteSegment(newestOf(segments));
  return missing;
}

function newestOf({ list }: Segments): number {
  return list.at(-1)?.firstSequence ?? 0;
}

/** Throws `JournalDamaged` without the newest segment: a retry of its requests would run again. */
export function refuseMissingSegment(segments: Segments, checkpoint: NotingSegment): void {
  const missing = missingSegment(segments, checkpoint);
  if (missing === null) return;
  throw new JournalDamaged(
    `The newest segment of the log is missing: what ${missing} held and the checkpoint does not is lost. Put that folder back, ` +
      'or restore the data folder from a backup, or give up what is missing with "payments serve --accept-loss", once',
  );
}

export function openCheckpoint(options: JournalOptions): LmdbCheckpoint {
  const { dir, identity, indexRowsOf, isChecked, onDamage } = options;
  const { state: mapSize } = mapSizesOf(options);
  try {
    const part = partOf(identity, 'state');
    return new LmdbCheckpoint({ dir, part, mapSize, indexRowsOf, isChecked, onDamage });
  } catch (error) {
    if (!(error instanceof JournalDamaged) || error instanceof ForeignPart) throw error;
    throw new JournalDamaged(`${error.message}. ${restoreAdvice}`, { cause: error });
  }
}
