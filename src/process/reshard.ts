// Lays a data folder out for another number of shards, while no service runs on it. The new shards are built beside
// the old ones, checked and made durable; then one step puts them in force, and the old ones are removed. A process
// that is killed on the way leaves the folder as it was, or as it is to be.
//
// Records, rate-limit counts and stored responses go to the one shard that owns their organization from then on: records
// and counts name it, a stored response says its slot.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import { timeOfId } from '../core/ids.ts';
import { indexRowsOf } from '../domain/indexes.ts';
import type { Change } from '../domain/record.ts';
import {
  type IdempotencyRecord,
  JournalDamaged,
  JournalFailure,
  nowhere,
  type OwnJournal,
  type StoredResponse,
  unlessDamaged,
} from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import { syncPath } from '../journal/sync-path.ts';
import { CliFailure, type Resharded } from '../operator/cli/context.ts';
import { callOperator, NoServer } from '../operator/cli/operator-client.ts';
import { shardOfOrganization, shardOfSlot } from '../shard/shard-map.ts';
import {
  type ClockState,
  clockKey,
  clockStateOf,
  directoryRevisionKey,
  latestClock,
  readClock,
  readRevision,
  writeClock,
  writeRevision,
} from '../shard/small-values.ts';
import type { Config } from './config-schema.ts';
import {
  type DataFolder,
  DataFolderError,
  existingDataFolder,
  lockDataFolder,
  nextGeneration,
  noteLayouts,
  openDirectory,
  putInForce,
} from './data-folder.ts';
import { bytesBelow, freeBytesIn, freeBytesMin } from './disk-space.ts';
import { checkFolder } from './folder-check.ts';
import { recordOffline } from './offline-audit.ts';

export interface ReshardOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly segmentBytesMax: number;
  readonly warn: (message: string, fields: object) => void;
}

/** The command: reshards the configured folder. Throws `CliFailure`, one clear line. */
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
    throw isClear ? new CliFailure(error.message) : error;
  }
}

const batchSize = 1_000;

/**
 * Reshards the folder and settles when the new layout is in force. Throws `DataFolderError` when the folder can't be
 * used or has too little room, `JournalDamaged` or `JournalFailure` when a shard can't be read or written; the folder
 * is then as it was.
 */
export async function reshard(options: ReshardOptions): Promise<Resharded> {
  await refuseRunning(options.dataDir);
  const release = await lockDataFolder(options.dataDir);
  const journals: OwnJournal[] = [];
  try {
    const old = await existingDataFolder(options.dataDir);
    const { shards, warn } = options;
    return await recordOffline(old.path, 'reshard', { shards }, warn, () => layOut(old, options, journals));
  } finally {
    for (const journal of journals) await journal.close();
    await release();
  }
}

/** Builds the new shards and puts them in force; what it leaves open is in `journals`. */
async function layOut(old: DataFolder, options: ReshardOptions, journals: OwnJournal[]): Promise<Resharded> {
  const { shards: to } = options;
  if (to === old.shards) return { from: to, to, records: 0, answers: 0 };
  const next = nextGeneration(old, to);
  await refuseMixed(old);
  refuseWithoutRoom(old);
  noteLayouts(old);
  const open = async (folder: DataFolder) => {
    const opened: OwnJournal[] = [];
    for (let number = 0; number < folder.shards; number++) {
      const { segmentBytesMax, warn } = options;
      const journal = await openJournal({
        dir: folder.shardDir(number),
        identity: folder.shardIdentity(number),
        indexRowsOf,
        segmentBytesMax,
        warn,
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

/** The lock says the same on this machine; the socket does so across containers that share the folder. */
export async function refuseRunning(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) throw new DataFolderError(`there is no data folder ${dataDir}`);
  const isRunning = await callOperator(dataDir, 'config', {}).then(
    () => true,
    (error) => !(error instanceof NoServer),
  );
  if (isRunning) throw new DataFolderError(`the service runs on ${dataDir}: stop it first`);
}

/** Parts that don't belong together must not be mixed for good. */
async function refuseMixed(folder: DataFolder): Promise<void> {
  const directory = openDirectory(folder);
  const warn = (message: string) => console.warn(`payments: ${message}`);
  await checkFolder({ folder, directory, acceptLoss: false, warn }).finally(() => directory.closeStore());
}

/** The new shards need as much room as the old ones. */
function refuseWithoutRoom(old: DataFolder): void {
  let needed = freeBytesMin;
  for (let number = 0; number < old.shards; number++) needed += bytesBelow(old.shardDir(number));
  const free = freeBytesIn(old.path);
  if (free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  throw new DataFolderError(
    `resharding ${old.path} may need ${megabytes(needed)} and there are ${megabytes(free)}: make room, or move the folder`,
  );
}

async function move(sources: readonly OwnJournal[], targets: readonly OwnJournal[]) {
  const clocks: ClockState[] = [];
  for (const source of sources) clocks.push(await completeCheckpoint(source));
  const latest = latestClock(clocks)!;
  const answers = await moveAnswers(sources, targets, latest.clock.serviceMs - idempotencyRetentionMs);
  const records = await moveRecords(sources, targets);
  await moveSmallValues(sources, targets, latest);
  return { records, answers };
}

/** Brings the checkpoint up to the end of the log, as the shard would have done next; returns the shard's last time. */
export async function completeCheckpoint(journal: OwnJournal): Promise<ClockState> {
  const { log, checkpoint, checkpointer } = journal;
  const { clock, ids } = readClock(checkpoint.getSmallValue(clockKey)) ?? clockStateOf(0);
  let { serviceMs } = clock;
  let { lastMs } = ids;
  for (const { changes, timeMs } of journal.replay()) {
    for (const { id } of changes) lastMs = Math.max(lastMs, timeOfId(id));
    serviceMs = Math.max(serviceMs, timeMs);
  }
  await checkpointer.write(Math.max(checkpoint.sequence, log.nextSequence - 1));
  return { clock: { ...clock, serviceMs }, ids: { ...ids, lastMs } };
}

/** A key, and its answer; null when that is lost. */
interface Moving {
  readonly key: IdempotencyRecord;
  readonly answer: StoredResponse | null;
}

/**
 * Appends every stored response to the log of the shard that owns it now, in the order in which they were
 * given. A key whose answer is lost moves along: its request must not run again.
 */
async function moveAnswers(sources: readonly OwnJournal[], targets: readonly OwnJournal[], sinceMs: number) {
  let answers = 0;
  const batches = targets.map((): Moving[] => []);
  const flush = async (number: number) => appendAnswers(targets[number]!, batches[number]!.splice(0));
  for (const { key, source } of inOrderOfTime(sources, sinceMs)) {
    const answer = unlessDamaged(() => source.log.readResponse(key.location, key.keyDigest)) ?? null;
    const number = shardOfSlot(key.slot, targets.length);
    batches[number]!.push({ key, answer });
    if (answer !== null) answers++;
    if (batches[number]!.length === batchSize) await flush(number);
  }
  for (const number of targets.keys()) await flush(number);
  return answers;
}

/** The idempotency records of all sources, each of which has its own in order. */
function* inOrderOfTime(sources: readonly OwnJournal[], sinceMs: number) {
  const heads = sources.map((source) => {
    const keys = source.checkpoint.idempotencyRecords(sinceMs)[Symbol.iterator]();
    return { source, keys, next: keys.next() };
  });
  for (;;) {
    const waiting = heads.filter(({ next }) => !next.done);
    if (waiting.length === 0) return;
    const first = waiting.reduce((a, b) => (b.next.value.usedAtMs < a.next.value.usedAtMs ? b : a));
    yield { key: first.next.value as IdempotencyRecord, source: first.source };
    first.next = first.keys.next();
  }
}

async function appendAnswers({ log, checkpoint }: OwnJournal, moving: readonly Moving[]): Promise<void> {
  const durable: Promise<void>[] = [];
  const idempotencyRecords: IdempotencyRecord[] = [];
  for (let start = 0, end = 0; start < moving.length; start = end) {
    // A turn has one time. Nothing tells the wall time of a key's use, which is about the same.
    const timeMs = moving[start]!.key.usedAtMs;
    while (moving[end]?.key.usedAtMs === timeMs) end++;
    const turn = moving.slice(start, end);
    const entries = turn.map(({ key, answer }) => ({
      changes: [],
      idempotency: answer && { ...key, ...answer },
      cause: null,
    }));
    const appended = log.append({ firstSequence: log.nextSequence, timeMs, wallMs: timeMs, entries });
    durable.push(appended.durable);
    for (const [i, { key }] of turn.entries()) {
      idempotencyRecords.push({ ...key, location: appended.locations[i] ?? nowhere });
    }
  }
  await Promise.all(durable);
  if (idempotencyRecords.length === 0) return;
  await checkpoint.write({ records: new Map(), sequence: log.nextSequence - 1, idempotencyRecords });
}

async function moveRecords(sources: readonly OwnJournal[], targets: readonly OwnJournal[]): Promise<number> {
  const batches = targets.map(() => new Map<string, Change>());
  const flush = async (number: number) => {
    const { log, checkpoint } = targets[number]!;
    const records = batches[number]!;
    batches[number] = new Map();
    await checkpoint.write({ records, sequence: log.nextSequence - 1, idempotencyRecords: [] });
  };
  let records = 0;
  for (const source of sources) {
    for (const record of source.checkpoint.records()) {
      const number = shardOfOrganization(record.org, targets.length);
      batches[number]!.set(record.id, record);
      records++;
      if (batches[number]!.size === batchSize) await flush(number);
    }
  }
  for (const number of targets.keys()) await flush(number);
  let arrived = 0;
  for (const target of targets) for (const _ of target.checkpoint.records()) arrived++;
  assert(arrived === records, `${arrived} of ${records} records have arrived`);
  return records;
}

async function moveSmallValues(
  sources: readonly OwnJournal[],
  targets: readonly OwnJournal[],
  clock: ClockState,
) {
  const revisions = sources.map(({ checkpoint }) =>
    readRevision(checkpoint.getSmallValue(directoryRevisionKey)),
  );
  const revision = writeRevision(Math.max(...revisions));
  const values = targets.map(
    () =>
      new Map<string, Uint8Array>([
        [clockKey, writeClock(clock)],
        [directoryRevisionKey, revision],
      ]),
  );
  for (const source of sources) {
    for (const [name, value] of source.checkpoint.smallValues()) {
      if (name === clockKey || name === directoryRevisionKey) continue;
      const org = name.slice(0, name.indexOf('/'));
      values[shardOfOrganization(org, targets.length)]!.set(name, value);
    }
  }
  for (const [number, { checkpointer }] of targets.entries())
    await checkpointer.putSmallValues(values[number]!);
}
