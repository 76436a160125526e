// What only a bug can ask of the journal ends it, before anything of it is written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdempotencyRecordList } from '../../src/journal/checkpoint/idempotency-rows.ts';
import { numberBytes, rowKey } from '../../src/journal/checkpoint/index-keys.ts';
import { decodeBatch, encodeBatch } from '../../src/journal/log/codec.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { decodeRecord, encodeRecord } from '../../src/journal/records/record-bytes.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  createEntry,
  customer,
  digest,
  encoded,
  identity,
  indexRowsOf,
  journalIn,
  paymentIntent,
  startMs,
  tag,
  turnAt,
} from './journal-fixtures.ts';

const is = (message: RegExp | string) => ({ name: 'AssertionFailure', message });
const short = digest(1).subarray(0, 15);

test('a record is written under an id, of an organization with one', () => {
  const record = customer(1, 'a@shop.test');
  for (const id of ['', 'cus', '_1', 'cus_-', `cus_${'0'.repeat(300)}`])
    assert.throws(() => encodeRecord({ ...record, id }), is(`${id} is an id`));
  for (const org of ['org-1', `org_${'0'.repeat(400)}`])
    assert.throws(() => encodeRecord({ ...record, org }), is(`${org} is the id of an organization`));
});

test('a record is read in a kind and a version that there are', () => {
  const { value } = encodeRecord(paymentIntent(1));
  const { id } = paymentIntent(1);
  const withByte = (at: number, byte: number) => {
    const changed = Buffer.from(value);
    changed[at] = byte;
    return changed;
  };
  assert.throws(() => decodeRecord(id, withByte(0, 200)), is('kind 200 of a record is known'));
  const [, version] = value;
  for (const unknown of [0, version! + 1])
    assert.throws(
      () => decodeRecord(id, withByte(1, unknown)),
      is(`version ${unknown} of a payment_intent is known`),
    );
});

test('a commit batch has whole digests, and causes of a kind that there is', () => {
  const { idempotency } = createEntry(1, true);
  for (const wrong of [{ keyDigest: short }, { fingerprint: short }]) {
    const entries = [{ ...createEntry(1), idempotency: { ...idempotency!, ...wrong } }];
    assert.throws(
      () => encodeBatch({ firstSequence: 1, timeMs: startMs, wallMs: startMs, entries }, tag, 1),
      is('digests have 16 bytes'),
    );
  }
  const { bytes } = encodeBatch(turnAt(1, 1), tag, 1);
  const causeAt = 78 + 2 + 4;
  bytes[causeAt] = 127;
  assert.throws(() => decodeBatch(bytes), is('the kind 127 of a cause is known'));
});

test('a key of the index has the number of bytes that it says', () => {
  for (const sortKey of ['', 'x'.repeat(1_000)])
    assert.throws(
      () => rowKey(numberBytes(1), null, sortKey),
      is(`a sort key of ${sortKey.length} characters`),
    );
  assert.throws(
    () => rowKey(numberBytes(1), null, 'a-b'),
    is('the sort key a-b has letters, digits and _ only'),
  );
});

test('a used key has whole digests', () => {
  const key = { keyDigest: digest(1), fingerprint: digest(2), slot: 1, usedAtMs: startMs };
  const location = { record: 1, offset: 0 };
  for (const wrong of [{ keyDigest: short }, { fingerprint: short }])
    assert.throws(
      () => new IdempotencyRecordList().push({ ...key, location, ...wrong }),
      is('digests have 16 bytes'),
    );
});

test('a log takes batches with entries, one behind the other, and none before it was replayed', async (context) => {
  const options = { dir: temporaryFolder(context), identity, indexRowsOf };
  const first = await openJournal(options);
  await appendTurns(first, [2]);
  await first.close();
  const journal = await openJournal(options);
  assert.throws(() => journal.log.append(turnAt(3, 1)), is('the log is replayed before anything else'));
  for await (const _ of journal.replay());
  assert.throws(() => journal.log.append(turnAt(3, 0)), is('a commit batch has entries'));
  for (const sequence of [2, 4])
    assert.throws(() => journal.log.append(turnAt(sequence, 1)), is('a commit batch follows the one before'));
  await journal.log.append(turnAt(3, 1)).durable;
  await journal.close();
});

test('a checkpoint never goes back, and keys come with what they are about', async (context) => {
  const journal = await journalIn(temporaryFolder(context));
  const records = encoded([paymentIntent(1)]);
  const write = (
    sequence: number,
    idempotencyRecords: Parameters<typeof journal.checkpoint.write>[0]['idempotencyRecords'],
  ) => journal.checkpoint.write({ records, sequence, idempotencyRecords });
  await write(5, []);
  await assert.rejects(write(4, []), is('a checkpoint never goes back'));
  const used = { keyDigest: digest(1), fingerprint: digest(2), slot: 1, usedAtMs: startMs };
  const late = [{ ...used, location: { record: 1, offset: 0 } }];
  await assert.rejects(write(5, late), is('used keys come with a later sequence'));
  await write(6, late);
  assert.equal(journal.checkpoint.sequence, 6);
  await journal.close();
});

for (const name of ['', 'x'.repeat(2_000)])
  test(`metadata has no name of ${name.length} bytes`, async (context) => {
    const journal = await journalIn(temporaryFolder(context));
    const put = async () => journal.checkpointer.putMetadata(new Map([[name, Buffer.from('1')]]));
    await assert.rejects(put, new RegExp(`: a key of ${name.length} bytes$`));
    await journal.close();
  });
