// Changes the number of shards of a data folder while no service runs on it. The new shards are built beside the old ones,
// checked and made durable. Then one step puts them in force, and the old ones are removed. When the process is killed, the
// folder has either the old layout or the new one.
//
// Records, rate-limit counts and stored responses move to the shard that will own their organization. Records and counts
// name the organization, and a stored response has its slot.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/config-schema.ts';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import { timeOfId } from '../core/ids.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { syncPath } from '../disk/sync-path.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import { JournalDamaged, JournalFailure, type OwnJournal, unlessDamaged } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import { CommandFailure } from '../operator/results/failures.ts';
import type { Resharded } from '../operator/results/folder-results.ts';
import { callOperator, NoServer } from '../operator/socket/operator-client.ts';
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
  type DataFolder,
  DataFolderError,
  existingDataFolder,
  nextGeneration,
  noteLayouts,
  openDirectory,
  putInForce,
} from './data-folder.ts';
import { bytesBelow, freeBytesIn, freeBytesMin } from './disk-space.ts';
import { checkFolder } from './folder-check.ts';
import { lockExistingDataFolder } from './folder-lock.ts';
import { inOrderOfTime, NewShards } from './new-shards.ts';
import { recordOffline } from './offline-audit.ts';

export interface ReshardOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly segmentBytesMax: number;
  readonly warn: (message: string, fields: object) => void;
  /** The thread's own by default. */
  readonly scheduler?: Scheduler;
}

/** Carries out `payments reshard` on the configured folder. Throws `CommandFailure`, whose message is one line. */
export async function reshardStopped(config: Config, shards: number): Promise<Resharded> {
  const { dataDir, journal } = config;
  const warn = (message: string, fields: object) =>
    console.warn(`payments: ${message} ${JSON.stringify(fields)}`);
  try {
    return await reshard({
      dataDir,
      shards,
      segmentBytesMax: journal.segmentBytesMax,
      warn,
    });
  } catch (error) {
    const isClear =
      error instanceof DataFolderError || error instanceof JournalDamaged || error instanceof JournalFailure;
    throw isClear ? new CommandFailure(error.message) : error;
  }
}

/**
 * Reshards the folder and settles when the new layout is in force. Rejects with `DataFolderError` when the folder can't be
 * used or has too little room, with `JournalDamaged` or `JournalFailure` when a shard can't be read or written. The folder
 * is then as before.
 */
export async function reshard(options: ReshardOptions): Promise<Resharded> {
  await refuseRunning(options.dataDir);
  const release = await lockExistingDataFolder(options.dataDir);
  try {
    const old = await existingDataFolder(options.dataDir);
    const { shards, warn } = options;
    return await recordOffline(old.path, 'reshard', { shards }, warn, () => reshardTaken(old, options));
  } finally {
    await release();
  }
}

/** Reshards a folder that this process has taken: builds the new shards, then puts them in force in one step. */
export async function reshardTaken(
  old: DataFolder,
  options: Omit<ReshardOptions, 'dataDir'>,
): Promise<Resharded> {
  const journals: OwnJournal[] = [];
  try {
    return await layOut(old, options, journals);
  } finally {
    for (const journal of journals) await journal.close();
  }
}

/** Journals that are still open when this ends are in `journals`. */
async function layOut(
  old: DataFolder,
  options: Omit<ReshardOptions, 'dataDir'>,
  journals: OwnJournal[],
): Promise<Resharded> {
  const { shards: to } = options;
  if (to === old.shards) return { from: to, to, records: 0, answers: 0 };
  const next = nextGeneration(old, to);
  await refuseMixed(old);
  refuseWithoutRoom(old);
  noteLayouts(old);
  const open = async (folder: DataFolder) => {
    const opened: OwnJournal[] = [];
    for (let number = 0; number < folder.shards; number++) {
      const { segmentBytesMax, scheduler } = options;
      const journal = await openJournal({
        dir: folder.shardDir(number),
        identity: folder.shardIdentity(number),
        indexRowsOf,
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
  putInForce(next);
  return { from: old.shards, to, ...moved };
}

/** Refuses when a service runs on the folder. The lock shows that on one machine, the socket also between containers. */
export async function refuseRunning(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) throw new DataFolderError(`there is no data folder ${dataDir}`);
  const isRunning = await callOperator(dataDir, 'config', {}).then(
    () => true,
    (error) => !(error instanceof NoServer),
  );
  if (isRunning) throw new DataFolderError(`the service runs on ${dataDir}: stop it first`);
}

/** Refuses a folder whose parts don't belong together, because a reshard would mix them for good. */
async function refuseMixed(folder: DataFolder): Promise<void> {
  const directory = openDirectory(folder);
  const warn = (message: string) => console.warn(`payments: ${message}`);
  await checkFolder({ folder, directory, acceptLoss: false, warn }).finally(() => directory.closeStore());
}

/** Refuses when there is too little room: the new shards need as much as the old ones. */
function refuseWithoutRoom(old: DataFolder): void {
  let needed = freeBytesMin;
  for (let number = 0; number < old.shards; number++) needed += bytesBelow(old.shardDir(number));
  const free = freeBytesIn(old.path);
  if (free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  throw new DataFolderError(
    `resharding ${old.path} may need ${megabytes(needed)}, and ${megabytes(free)} are free: make room, or move the folder to a larger disk`,
  );
}

async function move(sources: readonly OwnJournal[], targets: readonly OwnJournal[]) {
  const clocks: ClockState[] = [];
  for (const source of sources) clocks.push(await completeCheckpoint(source));
  const latest = latestClock(clocks)!;
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

/** Brings the checkpoint up to the end of the log. Returns the clock of the shard as it was at its last turn. */
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
