// What a commit batch is told to be large: a shard takes no more into it than fits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitBatch, type Peer } from '../../src/shard/commit-batch.ts';
import { RecordStore } from '../../src/store/record-store.ts';

test('its size is that of the bodies that it took, and of its answers to everybody', () => {
  const batch = new CommitBatch({ nowMs: 5, serviceMs: 5 }, new RecordStore());
  const peers: Peer[] = [{ post() {} }, { post() {} }];
  batch.bytesTaken = 1_000;
  assert.equal(batch.bytes, 1_000);
  let answers = 0;
  for (const [i, peer] of peers.entries()) {
    const writer = batch.answersTo(peer);
    const fields = { status: 200, flags: 0, errorNumber: 0, retryAfterSeconds: 0, originalRequest: '' };
    writer.put(i, { limit: 1, remaining: 1, resetSeconds: 1 }, fields, 'x'.repeat(500));
    answers += writer.bytes;
  }
  assert.ok(answers > 1_000);
  batch.reply({ peer: peers[0]!, correlation: 3 }, { ok: true, body: 'x'.repeat(200) });
  batch.reply({ peer: peers[1]!, correlation: 3 }, { ok: false, code: 'api_error', message: 'no' });
  assert.equal(batch.bytes, 1_000 + answers + 200);
});
