import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  capacityOf,
  changeLimit,
  createBucket,
  remaining,
  resetSeconds,
  retryAfterSeconds,
  spendFromAll,
  type TokenBucket,
  tightest,
} from '../../src/core/token-bucket.ts';

const startMs = 1_800_000_000_000;

/** Spends until the bucket refuses; answers how many requests went through. */
function drain(bucket: TokenBucket, nowMs: number): number {
  let spent = 0;
  while (spendFromAll([bucket], nowMs) === null) spent++;
  return spent;
}

function spend(bucket: TokenBucket, times: number, nowMs: number): void {
  for (let i = 0; i < times; i++) assert.equal(spendFromAll([bucket], nowMs), null);
}

test('a full bucket lets its limit and ten seconds of burst through at once', () => {
  const rows = [
    [1, 1],
    [3, 4],
    [8, 9],
    [10, 12],
    [30, 35],
    [60, 70],
    [120, 140],
    [150, 175],
    [600, 700],
    [1_200, 1_400],
  ] as const;
  for (const [perMinute, capacity] of rows) {
    assert.equal(capacityOf(perMinute), capacity);
    assert.equal(drain(createBucket(perMinute, startMs), startMs), capacity);
  }
});

test('a limit is a whole number of at least one', () => {
  for (const perMinute of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => createBucket(perMinute, startMs));
    assert.throws(() => changeLimit(createBucket(60, startMs), perMinute, startMs));
  }
});

test('the numbers for the headers', () => {
  // given a limit, requests spent at once, and milliseconds since then
  const rows = [
    { limit: 600, spent: 0, afterMs: 0, remaining: 700, reset: 0, retryAfter: 1 },
    { limit: 600, spent: 1, afterMs: 0, remaining: 699, reset: 1, retryAfter: 1 },
    { limit: 600, spent: 1, afterMs: 99, remaining: 699, reset: 1, retryAfter: 1 },
    { limit: 600, spent: 1, afterMs: 100, remaining: 700, reset: 0, retryAfter: 1 },
    { limit: 600, spent: 700, afterMs: 0, remaining: 0, reset: 70, retryAfter: 1 },
    { limit: 600, spent: 700, afterMs: 1, remaining: 0, reset: 70, retryAfter: 1 },
    { limit: 600, spent: 700, afterMs: 1_000, remaining: 10, reset: 69, retryAfter: 1 },
    { limit: 600, spent: 700, afterMs: 3_600_000, remaining: 700, reset: 0, retryAfter: 1 },
    { limit: 30, spent: 35, afterMs: 0, remaining: 0, reset: 70, retryAfter: 2 },
    { limit: 30, spent: 35, afterMs: 1_000, remaining: 0, reset: 69, retryAfter: 1 },
    { limit: 30, spent: 35, afterMs: 1_999, remaining: 0, reset: 69, retryAfter: 1 },
    { limit: 30, spent: 35, afterMs: 2_000, remaining: 1, reset: 68, retryAfter: 1 },
    { limit: 7, spent: 8, afterMs: 0, remaining: 0, reset: 69, retryAfter: 9 },
    { limit: 1, spent: 1, afterMs: 1, remaining: 0, reset: 60, retryAfter: 60 },
  ];
  for (const row of rows) {
    const bucket = createBucket(row.limit, startMs);
    spend(bucket, row.spent, startMs);
    const nowMs = startMs + row.afterMs;
    assert.deepEqual(
      {
        ...row,
        remaining: remaining(bucket, nowMs),
        reset: resetSeconds(bucket, nowMs),
        retryAfter: retryAfterSeconds(bucket, nowMs),
      },
      row,
    );
  }
});

test('asking changes nothing', () => {
  const bucket = createBucket(60, startMs);
  spend(bucket, 5, startMs);
  const before = { ...bucket };
  remaining(bucket, startMs + 500);
  remaining(bucket, startMs + 500);
  resetSeconds(bucket, startMs + 500);
  retryAfterSeconds(bucket, startMs + 500);
  tightest([bucket], startMs + 500);
  assert.deepEqual(bucket, before);
});

test('a request that one bucket refuses spends nothing in the others', () => {
  const all = createBucket(600, startMs);
  const writes = createBucket(60, startMs);
  drain(writes, startMs);
  assert.equal(spendFromAll([all, writes], startMs), writes);
  assert.equal(spendFromAll([writes, all], startMs), writes);
  assert.equal(remaining(all, startMs), 700);
  assert.equal(spendFromAll([all, writes], startMs + 1_000), null);
  assert.deepEqual([remaining(all, startMs + 1_000), remaining(writes, startMs + 1_000)], [699, 0]);
});

test('of several buckets that refuse, the one with the longest wait is named', () => {
  const slow = createBucket(6, startMs);
  const fast = createBucket(600, startMs);
  drain(slow, startMs);
  drain(fast, startMs);
  assert.equal(spendFromAll([slow, fast], startMs), slow);
  assert.equal(spendFromAll([fast, slow], startMs), slow);
});

test('the tightest bucket has the fewest whole requests left, and then the smallest limit', () => {
  const all = createBucket(600, startMs);
  const writes = createBucket(60, startMs);
  assert.equal(tightest([all, writes], startMs), writes);
  spend(all, 631, startMs);
  assert.equal(tightest([all, writes], startMs), all);
  // 69.1 and 70 differ by less than a whole request: 69 against 70, then 70.1 and 70, a tie.
  assert.equal(tightest([all, writes], startMs + 10), all);
  assert.equal(tightest([all, writes], startMs + 110), writes);
  assert.equal(tightest([writes, all], startMs + 110), writes);
  assert.throws(() => tightest([], startMs));
});

test('a raise adds the difference in capacity, a cut leaves no more than the new one', () => {
  const rows = [
    { what: 'raise of a full bucket', from: 60, spent: 0, to: 600, left: 700 },
    { what: 'raise of a used bucket', from: 60, spent: 20, to: 600, left: 680 },
    { what: 'raise of an empty bucket', from: 60, spent: 70, to: 120, left: 70 },
    { what: 'cut of a full bucket', from: 600, spent: 0, to: 60, left: 70 },
    { what: 'cut above what is left', from: 600, spent: 650, to: 60, left: 50 },
    { what: 'the same limit', from: 60, spent: 30, to: 60, left: 40 },
  ];
  for (const { what, from, spent, to, left } of rows) {
    const bucket = createBucket(from, startMs);
    spend(bucket, spent, startMs);
    changeLimit(bucket, to, startMs);
    assert.equal(remaining(bucket, startMs), left, what);
  }
});

test('the time before a change of the limit refills at the old rate', () => {
  const bucket = createBucket(60, startMs);
  drain(bucket, startMs);
  changeLimit(bucket, 6_000, startMs + 10_000);
  assert.equal(remaining(bucket, startMs + 10_000), 10 + (7_000 - 70));
});

test('a clock that steps back gives nothing, and time goes on from there', () => {
  const bucket = createBucket(60, startMs);
  drain(bucket, startMs);
  const earlierMs = startMs - 3_600_000;
  assert.equal(remaining(bucket, earlierMs), 0);
  assert.equal(spendFromAll([bucket], earlierMs), bucket);
  assert.equal(retryAfterSeconds(bucket, earlierMs), 1);
  assert.equal(drain(bucket, earlierMs + 999), 0);
  assert.equal(drain(bucket, earlierMs + 1_000), 1);
});

test('millions of tiny refills give away nothing', () => {
  // 7 a minute is a refill that no binary fraction of a request can hold.
  const bucket = createBucket(7, startMs);
  drain(bucket, startMs);
  let spent = 0;
  for (let ms = 1; ms <= 3_600_000; ms++) if (spendFromAll([bucket], startMs + ms) === null) spent++;
  assert.equal(spent, 420);
});

test('the bucket agrees with exact arithmetic on any history', () => {
  const step = fc.record({
    waitMs: fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(200_000)),
    requests: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.array(step, { maxLength: 60 }), (perMinute, steps) => {
      const bucket = createBucket(perMinute, startMs);
      const capacity = BigInt(capacityOf(perMinute)) * 60_000n;
      let model = capacity;
      let nowMs = startMs;
      for (const { waitMs, requests } of steps) {
        nowMs += waitMs;
        model += BigInt(waitMs * perMinute);
        if (model > capacity) model = capacity;
        for (let i = 0; i < requests; i++) {
          const admitted = model >= 60_000n;
          assert.equal(remaining(bucket, nowMs) > 0, admitted);
          assert.equal(spendFromAll([bucket], nowMs) === null, admitted);
          if (admitted) model -= 60_000n;
        }
        assert.equal(remaining(bucket, nowMs), Number(model / 60_000n));
        const ratePerSecond = BigInt(perMinute) * 1_000n;
        assert.equal(
          resetSeconds(bucket, nowMs),
          Number((capacity - model + ratePerSecond - 1n) / ratePerSecond),
        );
      }
    }),
  );
});

test('after the wait that it names, a bucket has room', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.nat(60_000), (perMinute, idleMs) => {
      const bucket = createBucket(perMinute, startMs);
      drain(bucket, startMs);
      const nowMs = startMs + idleMs;
      drain(bucket, nowMs);
      const waitMs = retryAfterSeconds(bucket, nowMs) * 1_000;
      assert.equal(remaining(bucket, nowMs + waitMs) > 0, true);
      if (waitMs > 1_000) assert.equal(remaining(bucket, nowMs + waitMs - 1_000) > 0, false);
    }),
  );
});
