// The follower that keeps the checkpoint hands the bytes of records on as they lie in the log.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { open as openLmdb } from 'lmdb';
import { systemScheduler } from '../../src/core/scheduler.ts';
import { causes } from '../../src/domain/cause.ts';
import type { Change } from '../../src/domain/record.ts';
import type { Entry } from '../../src/journal/journal.ts';
import { readEntries } from '../../src/journal/log/codec.ts';
import type { EncodedRecord } from '../../src/journal/records/record-bytes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { appendTurns, createEntry, digest, journalIn, paymentIntent, startMs } from './journal-fixtures.ts';

const uint32 = 0xce;
const int32 = 0xd2;

/** Writes the first value of each record, a time, in another way that msgpack has for it; today's encoder never would. */
function writeOtherwise(bytes: Buffer): Buffer {
  for (const { key, value } of [...readEntries(bytes)].flatMap(({ records }) => records)) {
    const at = value.indexOf(uint32);
    value[at] = int32;
    const end = value.length - 4;
    value.writeUInt32LE(crc32(value.subarray(0, end), crc32(key)), end);
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return bytes;
}

test('a record has the same bytes in the checkpoint as in the log, whoever wrote them', async (context) => {
  const dir = temporaryFolder(context);
  const open = () => journalIn(dir);
  const written = await open();
  await appendTurns(written, [3]);
  await written.close();
  const db = openLmdb<Buffer, number>({
    path: join(dir, 'log', '0000000000000001', 'data.mdb'),
    encoding: 'binary',
  });
  const batch = writeOtherwise(Buffer.from(db.get(1)!));
  await db.put(1, batch);
  await db.close();

  const journal = await open();
  await journal.checkpointer.write(3);
  const hex = ({ key, value }: EncodedRecord) => [key.toString('hex'), value.toString('hex')];
  const inLog = [...readEntries(batch)].flatMap(({ records }) => records);
  assert.equal(inLog.length, 6);
  assert.deepEqual([...journal.checkpoint.encodedRecords()].map(hex).sort(), inLog.map(hex).sort());
  assert.deepEqual(journal.checkpoint.get(paymentIntent(2).id), paymentIntent(2));
  await journal.close();
});

test('a checkpoint has the last value of each record, in whatever order records were made and changed', async (context) => {
  const journal = await journalIn(temporaryFolder(context));
  const last = new Map<string, Change>();
  const append = async (batches: readonly (readonly Change[])[]) => {
    for (const changes of batches) {
      for (const change of changes) last.set(change.id, change);
      const entries: Entry[] = changes.map((change) => ({
        changes: [change],
        idempotency: null,
        cause: causes.time,
      }));
      const { nextSequence: firstSequence } = journal.log;
      await journal.log.append({ firstSequence, timeMs: startMs, wallMs: startMs, entries }).durable;
    }
    await journal.checkpointer.write(journal.log.nextSequence - 1);
    const expected = [...last.values()].filter(({ removed }) => !removed);
    const byId = (a: Change, b: Change) => (a.id < b.id ? -1 : 1);
    assert.deepEqual([...journal.checkpoint.records()].sort(byId), expected.sort(byId));
    const listed = [...journal.checkpoint.scan('payment_intent/status/succeeded', { descending: false })];
    const succeeded = expected.filter(
      (record) => record.kind === 'payment_intent' && record.status === 'succeeded',
    );
    assert.deepEqual(
      listed,
      succeeded.map(({ id }) => id),
    );
  };
  const paid = { status: 'succeeded' } as const;
  const removed = { removed: true } as const;
  await append([
    [paymentIntent(7), paymentIntent(3), paymentIntent(5), paymentIntent(3, paid)],
    [paymentIntent(9), paymentIntent(7, paid), paymentIntent(1), paymentIntent(9, removed)],
  ]);
  await append([
    [paymentIntent(8), paymentIntent(2), paymentIntent(7), paymentIntent(5, removed)],
    [paymentIntent(12, paid), paymentIntent(2, paid), paymentIntent(11), paymentIntent(3)],
  ]);
  await journal.close();
});

test('while much of the log is brought into the checkpoint, other work of the thread has its turns', async (context) => {
  let turns = 0;
  const scheduler = {
    ...systemScheduler,
    soon: (action: () => void) =>
      systemScheduler.soon(() => {
        turns++;
        action();
      }),
  };
  const journal = await journalIn(temporaryFolder(context), { scheduler });
  const portions = 3;
  // Each of these batches has more than is read in a portion.
  await appendTurns(journal, Array<number>(portions).fill(1_000));
  await journal.checkpointer.write(journal.log.nextSequence - 1);
  assert.equal(turns, portions);
  await journal.close();
});

test('keys that were used in different hours are found again, and dropped with their hours', async (context) => {
  const journal = await journalIn(temporaryFolder(context));
  const hourMs = 3_600_000;
  const times = [startMs, startMs + 1, startMs + hourMs, startMs + hourMs + 1, startMs + 3 * hourMs];
  for (const timeMs of times) {
    const { nextSequence: firstSequence } = journal.log;
    const entries = [createEntry(firstSequence, true)];
    await journal.log.append({ firstSequence, timeMs, wallMs: timeMs, entries }).durable;
  }
  await journal.checkpointer.write(times.length);
  const found = (sinceMs: number) =>
    Array.from(journal.checkpoint.idempotencyRecords(sinceMs), ({ keyDigest, usedAtMs }) => [
      Buffer.from(keyDigest).toString('hex'),
      usedAtMs,
    ]);
  const expected = times.map((timeMs, i) => [Buffer.from(digest(i + 1)).toString('hex'), timeMs]);
  assert.deepEqual(found(startMs), expected);
  await journal.checkpointer.drop(startMs + hourMs);
  assert.deepEqual(found(startMs), expected.slice(2));
  await journal.close();
});
