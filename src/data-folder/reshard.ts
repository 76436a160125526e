// Changes the number of shards of a data folder while no service runs on it. The new shards are
// built beside the old ones, checked and made durable. Then one step activates them, and the old
// ones are removed: a process that is killed leaves one layout or the other. Records and rate-limit
// counts, which name their organization, and stored responses, which have its slot, move to the
// shard that will own it.

import { dirname } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert, defined } from '../core/assert.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { syncPath } from '../disk/sync-path.ts';
import { type OwnJournal, unlessDamaged } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import type { Resharded } from '../operator/results/folder-results.ts';
import {
  type ClockState,
  clockAfter,
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
  journalOf,
  nextGeneration,
  noteLayouts,
  shardDirsOf,
  shardNumbers,
  withDirectory,
} from './data-folder.ts';
import { bytesBelow, refuseWithoutRoom } from './disk-space.ts';
import { checkFolder } from './folder-check.ts';
import { commandWhileStopped, warn } from './folder-command.ts';
import { refuseMirror } from './mirrored-directory.ts';
import { inOrderOfTime, NewShards } from './new-shards.ts';

interface ReshardOptions {
  readonly shards: number;
  readonly segmentBytesMax: number;
  /** The thread's own by default. */
  readonly scheduler?: Scheduler;
}

/** Carries out `payments reshard`. When it throws, `CommandFailure`, the folder is as before. */
export function reshardStopped({ dataDir, journal }: Config, shards: number): Promise<Resharded> {
  const { segmentBytesMax } = journal;
  return commandWhileStopped(dataDir, 'reshard', { shards }, (folder) =>
    reshardLocked(folder, { shards, segmentBytesMax }),
  );
}

/** Builds the new shards of a folder that this process has locked, and activates them. */
export async function reshardLocked(old: DataFolder, options: ReshardOptions): Promise<Resharded> {
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
  await refuseMirror(old, 'command');
  const next = nextGeneration(old, to);
  await refuseMixed(old);
  // The new shards need as much as the old ones.
  const bytes = shardDirsOf(old).reduce((sum, dir) => sum + bytesBelow(dir), 0);
  refuseWithoutRoom(`resharding ${old.path}`, old.path, bytes);
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

/** A reshard would mix parts that do not belong together for good. */
async function refuseMixed(folder: DataFolder): Promise<void> {
  await withDirectory(folder, (directory) => checkFolder({ folder, directory, acceptLoss: false, warn }));
}

async function move(sources: readonly OwnJournal[], targets: readonly OwnJournal[]) {
  const clocks: ClockState[] = [];
  for (const source of sources) clocks.push(await completeCheckpoint(source));
  const latest = defined(latestClock(clocks), 'a folder has a shard');
  const sinceMs = latest.clock.serviceMs - idempotencyRetentionMs;
  const shards = new NewShards(targets);
  const keys = sources.map((source) => [source, source.checkpoint.idempotencyRecords(sinceMs)] as const);
  for (const { key, source } of inOrderOfTime(keys)) {
    const response = unlessDamaged(() => source.log.readResponse(key.location, key.keyDigest)) ?? null;
    await shards.putResponse(key, response);
  }
  for (const { checkpoint } of sources) {
    for (const encoded of checkpoint.encodedRecords()) await shards.putRecord(encoded);
    for (const [name, value] of checkpoint.metadata())
      if (isOfScope(name)) shards.putMetadataRow(name, value);
  }
  const valuesOf = (name: string) => sources.map(({ checkpoint }) => checkpoint.getMetadata(name));
  await shards.finish({
    clock: latest,
    revision: Math.max(...valuesOf(directoryRevisionKey).map(readRevision)),
    retention: jointRetention(valuesOf(retentionKey).map(readRetention)),
  });
  const { records, responses: answers } = shards;
  let arrived = 0;
  for (const target of targets) for (const _ of target.checkpoint.encodedRecords()) arrived++;
  assert(arrived === records, `${arrived} of ${records} records have arrived`);
  return { records, answers };
}

/** Brings the checkpoint up to the end of the log. Returns the clock as of that. */
export async function completeCheckpoint(journal: OwnJournal): Promise<ClockState> {
  const { log, checkpoint, checkpointer } = journal;
  let clock = readClock(checkpoint.getMetadata(clockKey)) ?? clockStateOf(0);
  for await (const entries of journal.replay()) for (const entry of entries) clock = clockAfter(clock, entry);
  await checkpointer.write(Math.max(checkpoint.sequence, log.nextSequence - 1));
  return clock;
}
