// The follower that keeps the checkpoint hands the bytes of records on as they lie in the log.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { open as openLmdb } from 'lmdb';
import { readEntries } from '../../src/journal/log/codec.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import type { EncodedRecord } from '../../src/journal/records/record-bytes.ts';
import { appendTurns, identity, indexRowsOf, paymentIntent, temporaryFolder } from './journal-fixtures.ts';

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
  const open = () => openJournal({ dir, identity, indexRowsOf });
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
