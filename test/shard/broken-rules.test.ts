// What only a bug can ask of the parts of a shard is refused by them, loudly.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causes } from '../../src/domain/cause.ts';
import { heldByLock } from '../../src/journal/ownership.ts';
import { CommitBatch } from '../../src/shard/commit-batch.ts';
import { AnswerWriter, RequestWriter } from '../../src/shard/frames.ts';
import { IdempotencyIndex } from '../../src/shard/idempotency-index.ts';
import { RecordStore } from '../../src/store/record-store.ts';

const is = (message: string) => ({ name: 'AssertionFailure', message });

test('frames are taken when there are some', () => {
  for (const writer of [new AnswerWriter(), new RequestWriter()])
    assert.throws(() => writer.take(), is('frames are sent when there are some'));
});

test('a commit batch that was written takes nothing more, and is answered once', () => {
  const batch = new CommitBatch({ nowMs: 5, serviceMs: 5 }, new RecordStore());
  batch.continueAt({ nowMs: 3, serviceMs: 5 });
  assert.throws(() => batch.continueAt({ nowMs: 6, serviceMs: 4 }), is('service time never goes back'));
  assert.deepEqual([batch.nowMs, batch.serviceMs], [3, 5]);
  batch.release(heldByLock(1));
  assert.throws(() => batch.release(heldByLock(1)), is('a commit batch is answered once'));
  assert.throws(
    () => batch.record([], null, causes.time),
    is('nothing is added to a commit batch that was written'),
  );
});

test('the index of keys takes whole digests and numbers that fit, and is loaded once', () => {
  const whole = new Uint8Array(16);
  const key = { keyDigest: whole, fingerprint: whole, usedAtMs: 0, location: { record: 1, offset: 0 } };
  const index = new IdempotencyIndex();
  for (const wrong of [{ keyDigest: whole.subarray(1) }, { fingerprint: whole.subarray(9) }])
    assert.throws(() => index.add({ ...key, ...wrong }), is('digests are whole'));
  const location = { record: 2 ** 48, offset: 0 };
  assert.throws(() => index.add({ ...key, location }), is('the number of a commit batch has 48 bits'));
  assert.throws(() => index.get(whole.subarray(5), 0), is('a digest is whole'));
  index.add({ ...key, location: { record: 2 ** 48 - 1, offset: 2 ** 32 - 1 } });
  assert.deepEqual(index.get(whole, 0)?.location, { record: 2 ** 48 - 1, offset: 2 ** 32 - 1 });
  assert.throws(() => index.load([], 0), is('the index is empty'));
});

test('one flush follows the other', () => {
  const records = new RecordStore();
  assert.throws(() => records.endFlush(), is('a flush that ends has begun'));
  records.beginFlush();
  assert.throws(() => records.beginFlush(), is('a flush begins after the one before has ended'));
  records.endFlush();
  assert.throws(() => records.endFlush(), is('a flush that ends has begun'));
});
