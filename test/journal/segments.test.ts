// The folders of the log: which segment holds what, which of them are open, and what a crash leaves.

import assert from 'node:assert/strict';
import fs, { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import {
  batchTimeMs,
  checksumAt,
  endOf,
  fileBytes,
  lastEnd,
  lastEpoch,
  type Segment,
  Segments,
  segmentName,
  writtenMs,
} from '../../src/journal/log/segments.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { identity, startMs, tag, turnAt } from './journal-fixtures.ts';

const mapSize = 1 << 20;

function open(context: TestContext, folder: string, access: 'write' | 'read' = 'write'): Segments {
  const segments = new Segments(folder, mapSize, identity, access);
  context.after(() => segments.close());
  return segments;
}

const batchAt = (sequence: number, epoch = 1) =>
  encodeBatch(turnAt(sequence, 2, startMs + sequence), tag, epoch).bytes;

/** Segments that begin with these sequences, and have a batch of two entries there; none where it is negative. */
async function filled(context: TestContext, firstSequences: readonly number[]) {
  const folder = join(temporaryFolder(context), 'log');
  mkdirSync(folder, { recursive: true });
  const segments = open(context, folder);
  for (const sequence of firstSequences) {
    const segment = await segments.create(Math.abs(sequence));
    if (sequence > 0) await segments.open(segment).put(sequence, batchAt(sequence));
  }
  return { folder, segments };
}

const sequencesOf = ({ list }: Segments) => list.map(({ firstSequence }) => firstSequence);
const openOf = ({ list }: Segments) =>
  list.filter(({ environment }) => environment !== null).map(({ firstSequence }) => firstSequence);

test('the segment that can hold an entry is the last one that begins no later', async (context) => {
  const { folder, segments } = await filled(context, [3, 5, 9]);
  for (const [sequence, first] of [
    [2, undefined],
    [3, 3],
    [4, 3],
    [5, 5],
    [8, 5],
    [9, 9],
    [1_000, 9],
  ] as const)
    assert.equal(segments.holding(sequence)?.firstSequence, first, String(sequence));
  assert.equal(segments.folderOf(9), join(folder, '0000000000000009'));
  assert.equal(segmentName(12), '0000000000000012');
});

test('few segments are open: the newest one, and those that were used last', async (context) => {
  const { segments } = await filled(context, [1, 3, 5, 7, 9, 11]);
  assert.deepEqual(openOf(segments), [5, 7, 9, 11]);
  const use = (firstSequence: number) => segments.open(segments.holding(firstSequence)!);
  use(5);
  use(1);
  assert.deepEqual(openOf(segments), [1, 5, 9, 11], 'the one goes that was used the longest ago');
  for (const firstSequence of [3, 5, 7, 1]) {
    use(firstSequence);
    assert.ok(openOf(segments).includes(firstSequence));
    assert.ok(openOf(segments).includes(11), 'the newest one stays');
    assert.equal(openOf(segments).length, 4);
  }
});

test('a segment that is used again is the same environment', async (context) => {
  const { segments } = await filled(context, [1, 3]);
  const [first] = segments.list as [Segment];
  assert.equal(segments.open(first), segments.open(first));
});

test('only the newest segment can be written to, and nothing by one who reads', async (context) => {
  const { folder, segments } = await filled(context, [1, 3]);
  await segments.close();
  const writer = open(context, folder);
  const [older, newest] = writer.list as [Segment, Segment];
  assert.throws(() => writer.open(older).putSync(2, batchAt(2)));
  writer.open(newest).putSync(5, batchAt(5));
  const reader = open(context, folder, 'read');
  for (const segment of reader.list) assert.throws(() => reader.open(segment).putSync(7, batchAt(7)));
  assert.equal(endOf(reader), 6);
});

test('one who reads finds new segments when it looks again', async (context) => {
  const { folder, segments } = await filled(context, [1]);
  const reader = open(context, folder, 'read');
  await segments.create(3);
  assert.deepEqual(sequencesOf(reader), [1]);
  reader.refresh();
  reader.refresh();
  assert.deepEqual(sequencesOf(reader), [1, 3]);
});

test('what a crash left unfinished is removed by the one who writes, and nothing else', async (context) => {
  const { folder } = await filled(context, [1]);
  const names = ['0000000000000003.new', '0000000000000001.dropped', 'notes', '7', '0000000000000009.old'];
  for (const name of names) mkdirSync(join(folder, name));
  assert.deepEqual(sequencesOf(open(context, folder, 'read')), [1]);
  for (const name of names) assert.ok(existsSync(join(folder, name)), `${name} stays for who reads`);
  assert.deepEqual(sequencesOf(open(context, folder)), [1]);
  const left = readdirSync(folder).sort();
  assert.deepEqual(left, ['0000000000000001', '0000000000000009.old', '7', 'notes']);
});

test('the oldest segment goes with its folder; one who reads forgets those that have gone, never the newest', async (context) => {
  const { folder, segments } = await filled(context, [1, 3, 5, 7]);
  const [reader, other] = [open(context, folder, 'read'), open(context, folder, 'read')];
  for (const { list } of [reader, other]) for (const segment of list) reader.open(segment);
  await segments.dropOldest();
  await segments.dropOldest();
  assert.deepEqual(sequencesOf(segments), [5, 7]);
  assert.deepEqual(readdirSync(folder).sort(), ['0000000000000005', '0000000000000007']);
  await reader.forgetDropped();
  assert.deepEqual(sequencesOf(reader), [5, 7]);
  await other.forgetBefore(3);
  assert.deepEqual(sequencesOf(other), [3, 5, 7]);
  await other.forgetBefore(100);
  assert.deepEqual(sequencesOf(other), [7]);
  await segments.dropOldest();
  await segments.dropOldest();
  await reader.forgetDropped();
  assert.deepEqual(sequencesOf(reader), [7], 'the newest one stays, although its folder has gone');
  await assert.rejects(segments.dropOldest(), /the log has a segment/);
});

test('before the file of a segment goes, its other name is on the disk: a power cut must not bring the first one back', async (context) => {
  const { folder, segments } = await filled(context, [1, 3]);
  const did: string[] = [];
  for (const name of ['renameSync', 'fsyncSync', 'rmSync'] as const) {
    const real: (...given: never[]) => void = fs[name];
    context.mock.method(fs, name, (...given: never[]) => {
      did.push(name);
      real(...given);
    });
  }
  syncBuiltinESMExports();
  await segments.dropOldest();
  context.mock.restoreAll();
  syncBuiltinESMExports();
  assert.deepEqual(did, ['renameSync', 'fsyncSync', 'rmSync']);
  assert.deepEqual(readdirSync(folder), ['0000000000000003']);
});

test('segments ascend', async (context) => {
  const { segments } = await filled(context, [5]);
  for (const sequence of [4, 5]) await assert.rejects(segments.create(sequence), /segments ascend/);
});

test('a log ends with its last batch, and an empty segment ends the one before it', async (context) => {
  const ends = async (firstSequences: readonly number[]) => {
    const { segments } = await filled(context, firstSequences);
    return [endOf(segments), lastEnd(segments).sequence, lastEpoch(segments)];
  };
  assert.deepEqual(await ends([]), [0, 0, 0]);
  assert.deepEqual(await ends([-1]), [0, 0, 0]);
  assert.deepEqual(await ends([1]), [2, 2, 1]);
  assert.deepEqual(await ends([1, -3]), [2, 2, 1]);
  assert.deepEqual(await ends([1, 3]), [4, 4, 1]);
});

test('a segment knows its first and last time, and how many bytes it has', async (context) => {
  const { segments } = await filled(context, [1, -5]);
  const [first, empty] = segments.list as [Segment, Segment];
  segments.open(first);
  const timesOf = (segment: Segment) => [
    batchTimeMs(segments, segment, 'first'),
    batchTimeMs(segments, segment, 'last'),
  ];
  assert.deepEqual(timesOf(first), [startMs + 1, startMs + 1]);
  assert.deepEqual(timesOf(empty), [undefined, undefined]);
  await segments.open(empty).put(5, batchAt(5));
  await segments.open(empty).put(7, batchAt(7));
  assert.deepEqual(timesOf(empty), [startMs + 5, startMs + 7]);
  assert.ok(fileBytes(first) > batchAt(1).length);
  assert.ok(writtenMs(first) > 0);
  const gone = { ...first, folder: `${first.folder}.gone` };
  assert.deepEqual([fileBytes(gone), writtenMs(gone)], [0, Number.NEGATIVE_INFINITY]);
});

test('the checksum of a batch is found by its last entry, and by no other', async (context) => {
  const { segments } = await filled(context, [3, 5]);
  const { sequence, checksum } = lastEnd(segments);
  assert.equal(sequence, 6);
  assert.equal(checksumAt(segments, 6), checksum);
  assert.equal(typeof checksumAt(segments, 4), 'number');
  assert.notEqual(checksumAt(segments, 4), checksum);
  assert.equal(checksumAt(segments, 5), null, 'it is inside of a batch');
  for (const beyond of [2, 7]) assert.equal(checksumAt(segments, beyond), undefined, String(beyond));
});

test('a damaged batch counts as one entry, and its checksum can not be told', async (context) => {
  const { segments } = await filled(context, [1, 3]);
  const damaged = batchAt(3);
  damaged[damaged.length - 5]! ^= 1;
  const newest = segments.list[1]!;
  await segments.open(newest).put(3, damaged);
  assert.equal(endOf(segments), 3);
  assert.equal(checksumAt(segments, 4), undefined);
  assert.throws(
    () => batchTimeMs(segments, newest, 'last'),
    /The commit batch 3 in segment 0000000000000003/,
  );
  assert.equal(lastEpoch(segments), 1, 'of the last batch that can be read');
});
