// Every later version reads the bytes of the records that each released version has written.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexedFields, indexRowsOf } from '../../src/domain/indexes.ts';
import { decodeIndexed, encodeRecord, readRecord } from '../../src/journal/records/record-bytes.ts';
import { recordFields, recordOf, valuesOf } from '../../src/journal/records/record-layout.ts';
import { goldenRecords, goldenRecordsOf } from './golden-records.ts';

const folder = join(import.meta.dirname, 'golden');

/** The keys and values of records by their kinds, in hexadecimal. */
function readGolden(file: string): Record<string, { key: string; value: string }> {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
  test(`the records of ${file} are read as they were written, and so are their index rows`, () => {
    const golden = readGolden(file);
    const written = goldenRecordsOf(file.replace('.json', ''));
    assert.deepEqual(Object.keys(golden).toSorted(), Object.keys(written).toSorted());
    for (const [kind, { key, value }] of Object.entries(golden)) {
      const encoded = { key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') };
      const record = written[kind as 'charge'];
      assert.deepEqual(readRecord(encoded), record, kind);
      assert.deepEqual(indexRowsOf(decodeIndexed(record.id, encoded.value)), indexRowsOf(record), kind);
    }
  });
}

test('the newest file holds what is written today: a layout that changes needs an upcaster and a file of its own', () => {
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .at(-1)!;
  const golden = readGolden(newest);
  for (const [kind, record] of Object.entries(goldenRecords)) {
    const { key, value } = encodeRecord(record);
    assert.deepEqual({ key: key.toString('hex'), value: value.toString('hex') }, golden[kind], kind);
  }
});

test('the index rows of a record are told from its indexed fields, without the rest of it', () => {
  for (const record of Object.values(goldenRecords)) {
    const indexed = decodeIndexed(record.id, encodeRecord(record).value);
    const names = ['kind', 'id', 'org', 'livemode', ...indexedFields[record.kind]];
    assert.deepEqual(Object.keys(indexed).toSorted(), names.toSorted());
    assert.deepEqual(indexRowsOf(indexed), indexRowsOf(record), record.kind);
  }
  const removed = encodeRecord({ ...goldenRecords.charge, removed: true });
  assert.deepEqual(indexRowsOf(decodeIndexed(goldenRecords.charge.id, removed.value)), []);
});

test('of each kind of record all fields are told', () => {
  for (const [kind, record] of Object.entries(goldenRecords)) {
    const names = Object.keys(record).filter((name) => name !== 'kind');
    assert.deepEqual(recordFields.get(kind)?.toSorted(), names.toSorted(), kind);
  }
});

test('what a review of version 1 received is in dirhams, unless only its currency can have been another one', () => {
  const readAs = (reason: 'amount_mismatch' | 'late_payment', received: number) => {
    const { kind, id, org, livemode, ...review } = goldenRecords.review;
    const values = valuesOf({ kind, id, org, livemode, ...review, reason, amount_received: received });
    return recordOf({ kind, id, org, livemode }, 1, values.slice(0, -1));
  };
  const { amount_expected: expected } = goldenRecords.review;
  for (const [reason, received, currency] of [
    ['amount_mismatch', expected, 'xxx'],
    ['amount_mismatch', expected - 1, 'mad'],
    ['late_payment', expected, 'mad'],
  ] as const) {
    const read = { ...goldenRecords.review, reason, amount_received: received, currency_received: currency };
    assert.deepEqual(readAs(reason, received), read);
  }
});

test('a record that is removed stays so', () => {
  const { charge } = goldenRecords;
  const removed = { ...charge, removed: true } as const;
  assert.deepEqual(readRecord(encodeRecord(removed)), removed);
});

test('a text that is one of the usual words of its field takes a byte, and any other is written as it is', () => {
  const { event } = goldenRecords;
  for (const type of ['payment_intent.created', 'review.closed', 'payout.paid', ''] as const) {
    const record = { ...event, type } as typeof event;
    assert.deepEqual(readRecord(encodeRecord(record)), record);
  }
  const bytesOf = (type: string) => encodeRecord({ ...event, type } as typeof event).value.length;
  assert.equal(bytesOf('payment_intent.created'), bytesOf('review.closed'));
  assert.equal(bytesOf('payout.paid') - bytesOf('review.closed'), 'payout.paid'.length);
});
