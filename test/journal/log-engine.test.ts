// The engine of the log stores batches of one partition in order, and takes them from its newest owner only.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { readLog } from '../../src/journal/log/follow.ts';
import { SegmentedLog } from '../../src/journal/log/log.ts';
import type { FollowedBatch } from '../../src/journal/log/log-engine.ts';
import { Segments } from '../../src/journal/log/segments.ts';
import { identity, tag, temporaryFolder, turnAt } from './journal-fixtures.ts';

function open(context: TestContext, onSegment = async () => {}) {
  const folder = join(temporaryFolder(context), 'log');
  mkdirSync(folder, { recursive: true });
  const segments = new Segments(folder, 1 << 20, identity);
  const movedResponse = () => undefined;
  const limits = { segmentBytesMax: 1 << 20, segmentAgeMaxMs: 1e9 };
  const engine = new SegmentedLog({
    segments,
    epochFile: new EpochFile(folder),
    onSegment,
    movedResponse,
    ...limits,
  });
  engine.start(1);
  context.after(() => engine.close());
  return { engine, segments };
}

const batch = (firstSequence: number, entries: number, epoch: number) =>
  encodeBatch(turnAt(firstSequence, entries), tag, epoch).bytes;

test('a batch of another partition, or at another sequence, is a bug', (context) => {
  const { engine } = open(context);
  assert.throws(() => engine.append({ ...identity, shard: 2 }, 1, 1, batch(1, 1, 1)), /one partition/);
  assert.throws(() => engine.append(identity, 1, 2, batch(2, 1, 1)), /follows the one before/);
  assert.throws(() => engine.append(identity, 1, 1, batch(2, 1, 1)), /under its first sequence/);
});

test('a follower that has just read the log finds what became durable since', async (context) => {
  const { engine, segments } = open(context);
  await engine.append(identity, 1, 1, batch(1, 1, 1));
  const read = new Segments(segments.folder, 1 << 20, identity, 'read');
  context.after(() => read.close());
  // The reader and the writer are in one turn of the event loop, as when a message comes right after a read.
  assert.deepEqual(await sequences(read), [1]);
  segments.open(segments.list[0]!).putSync(2, batch(2, 1, 1));
  read.refresh();
  assert.deepEqual(await sequences(read), [1, 2]);
});

async function batchesIn(segments: Segments): Promise<FollowedBatch[]> {
  const found: FollowedBatch[] = [];
  for await (const batches of readLog(segments, 0)) found.push(...batches);
  return found;
}

async function sequences(segments: Segments): Promise<number[]> {
  return (await batchesIn(segments)).map(({ firstSequence }) => firstSequence);
}
