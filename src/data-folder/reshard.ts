// Changes the number of shards of a data folder while no service runs on it. The new shards are
// built beside the old ones, checked and made durable. Then one step activates them, and the old
// ones are removed. When the process is killed, the folder has either the old layout or the new
// one.
//
// Records, rate-limit counts and stored responses move to the shard that will own their
// organization. Records and counts name the organization, and a stored response has its slot.

import { dirname } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert, defined } from '../core/assert.ts';
import { timeOfId } from '../core/ids.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { syncPath } from '../disk/sync-path.ts';
import { type OwnJournal, unlessDamaged } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import type { Resharded } from '../operator/results/folder-results.ts';
import {
  type ClockState,
  clockKey,
  clockStateOf,
  directoryRevisionKey,
  isOfScope,
  jointRetention,
  latestClock,
  readClock,
  readRetention,
  readRevision,
  retentionKey,
} from '../shard/metadata.ts';
import {
  activate,
  type DataFolder,
  DataFolderError,
  journalOf,
  nextGeneration,
  noteLayouts,
  shardDirsOf,
  shardNumbers,
  withDirectory,
} from './data-folder.ts';
import { bytesBelow, freeBytesIn, freeBytesMin, megabytes } from './disk-space.ts';
import { checkFolder } from './folder-check.ts';
import { clearly, recordOffline, whileStopped } from './folder-command.ts';
import { inOrderOfTime, NewShards } from './new-shards.ts';

export interface ReshardOptions {
  readonly shards: number;
  readonly segmentBytesMax: number;
  /** The thread's own by default. */
  readonly scheduler?: Scheduler;
}

/**
 * Carries out `payments reshard` on the configured folder. Throws `CommandFailure`, whose message
 * is one line, when the folder can't be used, a shard can't be read or written, or there is too
 * little room. The folder is then as before.
 */
export function reshardStopped({ dataDir, journal }: Config, shards: number): Promise<Resharded> {
  const { segmentBytesMax } = journal;
  return clearly(() =>
    whileStopped(dataDir, (folder) =>
      recordOffline(folder.path, 'reshard', { shards }, () =>
        reshardTaken(folder, { shards, segmentBytesMax }),
      ),
    ),
  );
}

/** Reshards a folder that this process has taken: builds the new shards, then activates them in one step. */
export async function reshardTaken(old: DataFolder, options: ReshardOptions): Promise<Resharded> {
  const journals: OwnJournal[] = [];
  try {
    return await layOut(old, options, journals);
  } finally {
    for (const journal of journals) await journal.close();
  }
}

/** Journals that are still open when this ends are in `journals`. */
async function layOut(old: DataFolder, options: ReshardOptions, journals: OwnJournal[]): Promise<Resharded> {
  const { shards: to } = options;
  if (to === old.shards) return { from: to, to, records: 0, answers: 0 };
  const next = nextGeneration(old, to);
  await refuseMixed(old);
  refuseWithoutRoom(old);
  noteLayouts(old);
  const open = async (folder: DataFolder) => {
    const opened: OwnJournal[] = [];
    for (const number of shardNumbers(folder)) {
      const { segmentBytesMax, scheduler } = options;
      const journal = await openJournal({
        ...journalOf(folder, number),
        segmentBytesMax,
        ...(scheduler && { scheduler }),
      });
      opened.push(journal);
      journals.push(journal);
    }
    return opened;
  };
  const sources = await open(old);
  const targets = await open(next);
  const moved = await move(sources, targets);
  for (const journal of journals.splice(0)) await journal.close();
  syncPath(dirname(next.shardDir(0)));
  activate(next);
  return { from: old.shards, to, ...moved };
}

/** Refuses a folder whose parts don't belong together, because a reshard would mix them for good. */
async function refuseMixed(folder: DataFolder): Promise<void> {
  const warn = (message: string) => console.warn(`payments: ${message}`);
  await withDirectory(folder, (directory) => checkFolder({ folder, directory, acceptLoss: false, warn }));
}

/** Refuses when there is too little room: the new shards need as much as the old ones. */
function refuseWithoutRoom(old: DataFolder): void {
  const needed = shardDirsOf(old).reduce((sum, dir) => sum + bytesBelow(dir), freeBytesMin);
  const free = freeBytesIn(old.path);
  if (free >= needed) return;
  throw new DataFolderError(
    `resharding ${old.path} may need ${megabytes(needed)}, and ${megabytes(free)} are free: make room, or move the folder to a larger disk`,
  );
}

async function move(sources: readonly OwnJournal[], targets: readonly OwnJournal[]) {
  const clocks: ClockState[] = [];
  for (const source of sources) clocks.push(await completeCheckpoint(source));
  const latest = defined(latestClock(clocks), 'a folder has a shard');
  const sinceMs = latest.clock.serviceMs - idempotencyRetentionMs;
  const shards = new NewShards(targets);
  const keys = sources.map((source) => [source, source.checkpoint.idempotencyRecords(sinceMs)] as const);
  for (const { key, source } of inOrderOfTime(keys)) {
    const answer = unlessDamaged(() => source.log.readResponse(key.location, key.keyDigest)) ?? null;
    await shards.putAnswer(key, answer);
  }
  for (const { checkpoint } of sources) {
    for (const frame of checkpoint.encodedRecords()) await shards.putRecord(frame);
    for (const [name, value] of checkpoint.metadata())
      if (isOfScope(name)) shards.putMetadataRow(name, value);
  }
  const valuesOf = (name: string) => sources.map(({ checkpoint }) => checkpoint.getMetadata(name));
  await shards.finish({
    clock: latest,
    revision: Math.max(...valuesOf(directoryRevisionKey).map(readRevision)),
    retention: jointRetention(valuesOf(retentionKey).map(readRetention)),
  });
  const { records, answers } = shards;
  let arrived = 0;
  for (const target of targets) for (const _ of target.checkpoint.encodedRecords()) arrived++;
  assert(arrived === records, `${arrived} of ${records} records have arrived`);
  return { records, answers };
}

/** Brings the checkpoint up to the end of the log. Returns the clock of the shard's last commit batch. */
export async function completeCheckpoint(journal: OwnJournal): Promise<ClockState> {
  const { log, checkpoint, checkpointer } = journal;
  const { clock, ids } = readClock(checkpoint.getMetadata(clockKey)) ?? clockStateOf(0);
  let { serviceMs } = clock;
  let { lastMs } = ids;
  for await (const entries of journal.replay()) {
    for (const { changes, timeMs } of entries) {
      for (const { id } of changes) lastMs = Math.max(lastMs, timeOfId(id));
      serviceMs = Math.max(serviceMs, timeMs);
    }
  }
  await checkpointer.write(Math.max(checkpoint.sequence, log.nextSequence - 1));
  return { clock: { ...clock, serviceMs }, ids: { ...ids, lastMs } };
}
