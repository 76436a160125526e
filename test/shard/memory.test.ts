// How the memory of a shard is divided.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheBytesBeside, memoryShares } from '../../src/shard/memory.ts';

const mib = 1024 * 1024;

test('what lies in the heap is half of it, and what others hold as much again', () => {
  const shares = memoryShares(1_024);
  assert.equal(shares.cacheBytesMax + shares.unwrittenBytesMax, 512 * mib);
  assert.equal(shares.mailboxBytesMax + shares.outboxBytesMax + shares.answersBytesMax, 512 * mib);
});

for (const [indexMib, cacheMib] of [
  [0, 256],
  [56, 200],
  [192, 64],
  [1_000, 64],
] as const) {
  test(`beside an idempotency index of ${indexMib} MiB the cache may have ${cacheMib} of its 256 MiB`, () => {
    assert.equal(cacheBytesBeside(memoryShares(1_024), indexMib * mib), cacheMib * mib);
  });
}

for (const [shardMib, batchMib] of [
  [64, 2],
  [256, 8],
  [1_024, 8],
] as const) {
  test(`in a shard of ${shardMib} MiB a commit batch may have ${batchMib} MiB`, () => {
    assert.equal(memoryShares(shardMib).batchBytesMax, batchMib * mib);
  });
}
