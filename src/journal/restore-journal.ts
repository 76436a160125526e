// Builds a shard's journal in a new folder from a backup and an archive: a checkpoint from its
// rows, and a log from its batches. Then it is opened as after a crash, and its follower brings the
// checkpoint up to the end of the log: a restore is also a recovery.

import { mkdirSync } from 'node:fs';
import { assert, elementAt } from '../core/assert.ts';
import { pieceSize } from '../core/piece-size.ts';
import type { Block } from '../disk/archive-file.ts';
import { commitAppended, createEnvironment, openEnvironment } from '../disk/environment.ts';
import { partOf, type ShardIdentity, tagOf } from '../disk/identity.ts';
import { RowWriter } from './checkpoint/checkpoint-rows.ts';
import { checkpointTables, segmentKey } from './checkpoint/checkpoint-tables.ts';
import { rowsOfBlock } from './checkpoint/row-blocks.ts';
import { decodeBatch, encodeBatch, readBatchHeader, responseOf, retagged } from './log/codec.ts';
import { Segments } from './log/segments.ts';
import type { FiledBatch } from './log-files.ts';
import { foldersOfJournal, mapSizesOf } from './open-journal.ts';

const commitBytes = pieceSize(16 << 20);

interface RestoredJournal {
  readonly dir: string;
  readonly identity: ShardIdentity;
  readonly segmentBytesMax: number;
}

/** Writes the checkpoint's rows, durably. */
export async function restoreCheckpoint(
  { dir, identity, segmentBytesMax }: RestoredJournal,
  blocks: AsyncIterable<Block>,
): Promise<number> {
  const { log, checkpoint: folder } = foldersOfJournal(dir);
  mkdirSync(log, { recursive: true });
  const mapSize = mapSizesOf({ segmentBytesMax }).state;
  const part = partOf(identity, 'state');
  await createEnvironment(folder, mapSize, part);
  const environment = openEnvironment({ folder, part, mapSize, check: 'none' });
  const writer = new RowWriter(environment, commitBytes);
  try {
    for await (const block of blocks) {
      const { table, rows } = rowsOfBlock(block);
      writer.add({ table, rows: table === checkpointTables.meta ? withoutRow(rows, segmentKey) : rows });
    }
    writer.flush();
  } finally {
    await environment.close();
  }
  return writer.count;
}

function withoutRow(rows: readonly Buffer[], key: Buffer): Buffer[] {
  return rows.filter((_, i) => !key.equals(elementAt(rows, i - (i % 2))));
}

/** A batch, and its last entry to write. */
export interface KeptBatch {
  readonly batch: FiledBatch;
  readonly last: number;
}

/** 0 where nothing was written. */
interface RestoredLog {
  /** The last entry, and its wall time. */
  readonly last: number;
  readonly wallMs: number;
  readonly newestSegment: number;
}

/**
 * Writes the batches as the log of this journal, durably. It begins behind the last gap, where
 * something was dropped while the backup was made, or given up before: what comes before that goes,
 * with the stored responses that lie there. A log that ends before `state`, the sequence of the
 * checkpoint, goes on behind that.
 */
export async function restoreLog(
  { dir, identity, segmentBytesMax }: RestoredJournal,
  batches: AsyncIterable<KeptBatch>,
  state: number,
): Promise<RestoredLog> {
  const segments = new Segments(foldersOfJournal(dir).log, mapSizesOf({ segmentBytesMax }).log, identity);
  const tag = tagOf(identity);
  let gathered: [number, Buffer][] = [];
  let bytes = 0;
  let inSegment = Number.POSITIVE_INFINITY;
  let end = 0;
  let wallMs = 0;
  const flush = async () => {
    if (gathered.length === 0) return;
    if (inSegment > segmentBytesMax) {
      await segments.create(elementAt(gathered, 0)[0]);
      inSegment = 0;
    }
    await commitAppended(segments.open(elementAt(segments.list, segments.list.length - 1)), gathered);
    inSegment += bytes;
    gathered = [];
    bytes = 0;
  };
  const drop = async () => {
    while (segments.list.length > 0) await segments.dropOldest();
    gathered = [];
    bytes = 0;
    inSegment = Number.POSITIVE_INFINITY;
  };
  try {
    for await (const { batch, last } of batches) {
      if (batch.firstSequence > end + 1) await drop();
      assert(last > end && last <= batch.lastSequence, 'the batches of a restore ascend');
      const isWhole = batch.lastSequence === last;
      const own = isWhole ? retagged(batch.bytes, tag) : cutAfter(batch.bytes, last, tag);
      gathered.push([batch.firstSequence, own]);
      bytes += own.length;
      end = last;
      wallMs = batch.wallMs;
      if (bytes >= commitBytes) await flush();
    }
    await flush();
    if (end < state) {
      await drop();
      await segments.create(state + 1);
    }
    return { last: end, wallMs, newestSegment: segments.list.at(-1)?.firstSequence ?? 0 };
  } finally {
    await segments.close();
  }
}

/** The commit batch with its entries up to `lastSequence` only. */
function cutAfter(bytes: Buffer, lastSequence: number, tag: Buffer): Buffer {
  const { firstSequence, timeMs, wallMs, epoch } = readBatchHeader(bytes);
  const entries = decodeBatch(bytes)
    .filter(({ sequence }) => sequence <= lastSequence)
    .map(({ cause, changes, idempotency }) => ({
      cause,
      changes,
      idempotency: responseOf(bytes, idempotency),
    }));
  return encodeBatch({ firstSequence, timeMs, wallMs, entries }, tag, epoch).bytes;
}
