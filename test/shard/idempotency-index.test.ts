// The idempotency index against a plain map: while it grows, while keys expire, and with millions
// of them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { idempotencyRetentionMs } from '../../src/contract/limits.ts';
import { IdempotencyRecordList, PackedRecords } from '../../src/journal/checkpoint/idempotency-rows.ts';
import type { IdempotencyRecord } from '../../src/journal/journal.ts';
import { IdempotencyIndex } from '../../src/shard/idempotency-index.ts';

const startMs = Date.UTC(2026, 10, 2, 12);
const hourMs = 3_600_000;

/** 16 bytes that differ for every number, spread like a digest. */
function digestOf(number: number): Uint8Array {
  const words = new Uint32Array(4);
  for (let i = 0, mixed = number + 1; i < 4; i++) {
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    words[i] = mixed ^ (mixed >>> 12);
  }
  words[3] = number;
  return new Uint8Array(words.buffer);
}

/** A key as the index is told of it. */
type UsedKey = Omit<IdempotencyRecord, 'slot'>;

const keyOf = (number: number, usedAtMs: number): UsedKey => ({
  keyDigest: digestOf(number),
  fingerprint: digestOf(number ^ 0x5555),
  usedAtMs,
  location: { record: number * 7 + 1, offset: number % 500 },
});

function assertFound(index: IdempotencyIndex, key: UsedKey, nowMs: number): void {
  const found = index.get(key.keyDigest, nowMs);
  assert.deepEqual(found, { fingerprint: key.fingerprint.subarray(0, 8), location: key.location });
}

test('a key that was never used is not known', () => {
  assert.equal(new IdempotencyIndex().get(digestOf(1), startMs), undefined);
});

test('a key is known with its fingerprint and its place', () => {
  const index = new IdempotencyIndex();
  const key = {
    keyDigest: createHash('md5').update('key').digest(),
    fingerprint: createHash('md5').update('request').digest(),
    usedAtMs: startMs,
    // The largest sequence and the largest offset.
    location: { record: 2 ** 48 - 1, offset: 2 ** 32 - 1 },
  };
  index.add(key);
  const found = index.get(new Uint8Array(key.keyDigest), startMs)!;
  assert.deepEqual(Buffer.from(found.fingerprint), key.fingerprint.subarray(0, 8));
  assert.deepEqual(found.location, key.location);
});

test('keys whose digests differ in one word are told apart', () => {
  for (const word of [0, 1, 2]) {
    const index = new IdempotencyIndex();
    const digestWith = (value: number) => {
      const words = Uint32Array.of(7, 7, 7, 7);
      words[word] = value;
      return new Uint8Array(words.buffer);
    };
    const keys = Array.from({ length: 500 }, (_, i) => ({
      ...keyOf(i, startMs),
      keyDigest: digestWith(2 * i),
    }));
    for (const key of keys) index.add(key);
    for (const [i, key] of keys.entries()) {
      assertFound(index, key, startMs);
      assert.equal(index.get(digestWith(2 * i + 1), startMs), undefined, `word ${word}`);
    }
  }
});

test('digests may lie anywhere in a buffer', () => {
  const index = new IdempotencyIndex();
  const key = keyOf(5, startMs);
  const shifted = (bytes: Uint8Array) => {
    const buffer = new Uint8Array(bytes.length + 3);
    buffer.set(bytes, 3);
    return buffer.subarray(3);
  };
  index.add({ ...key, keyDigest: shifted(key.keyDigest), fingerprint: shifted(key.fingerprint) });
  assertFound(index, key, startMs);
  assert.ok(index.get(shifted(key.keyDigest), startMs));
});

const ages: readonly (readonly [ageMs: number, known: boolean])[] = [
  [0, true],
  [hourMs, true],
  [idempotencyRetentionMs - 1, true],
  // Times are kept in whole seconds, rounded up: a key never goes early.
  [idempotencyRetentionMs + 1_000, false],
  [idempotencyRetentionMs * 2, false],
];
for (const [ageMs, known] of ages) {
  test(`a key used ${ageMs} ms ago is ${known ? 'known' : 'forgotten'}`, () => {
    const index = new IdempotencyIndex();
    for (const usedAtMs of [startMs, startMs + 1, startMs + 999]) {
      const key = keyOf(usedAtMs - startMs, usedAtMs);
      index.add(key);
      assert.equal(index.get(key.keyDigest, usedAtMs + ageMs) !== undefined, known);
    }
  });
}

test('an expired key can be used again', () => {
  const index = new IdempotencyIndex();
  index.add(keyOf(1, startMs));
  const laterMs = startMs + 25 * hourMs;
  const again = { ...keyOf(1, laterMs), location: { record: 99, offset: 3 } };
  index.add(again);
  assertFound(index, again, laterMs);
});

test('an expired key that is used again while the table grows is the newer one afterwards', () => {
  const index = new IdempotencyIndex();
  for (let i = 0; i < 700; i++) index.add(keyOf(i, startMs));
  const laterMs = startMs + 25 * hourMs;
  // Enough to start moving; then keys of the old table again, and enough to end the move.
  for (let i = 700; i < 775; i++) index.add(keyOf(i, laterMs));
  const again = Array.from({ length: 700 }, (_, i) => ({
    ...keyOf(i, laterMs),
    location: { record: 1_000_000 + i, offset: 0 },
  }));
  for (const key of again) index.add(key);
  for (let i = 2_000; i < 4_000; i++) index.add(keyOf(i, laterMs));
  for (const key of again) assertFound(index, key, laterMs);
});

test('nothing is lost or made up while the table grows, at every size', () => {
  const index = new IdempotencyIndex();
  const count = 10_000;
  for (let i = 0; i < count; i++) {
    index.add(keyOf(i, startMs));
    // The newest, the oldest, one in between, and one that isn't there.
    assertFound(index, keyOf(i, startMs), startMs);
    assertFound(index, keyOf(0, startMs), startMs);
    assertFound(index, keyOf(i >> 1, startMs), startMs);
    assert.equal(index.get(digestOf(count + i), startMs), undefined);
  }
  for (let i = 0; i < count; i++) assertFound(index, keyOf(i, startMs), startMs);
});

// A full table's worth of keys: the first one of the next day finds nothing alive.
for (const many of [768, 3_072, 12_288, 196_608]) {
  test(`a table whose ${many} keys have all expired gives way to a new one`, () => {
    const index = new IdempotencyIndex();
    for (let i = 0; i < many; i++) index.add(keyOf(i, startMs));
    const laterMs = startMs + 25 * hourMs;
    for (let i = many; i < 2 * many; i++) index.add(keyOf(i, laterMs));
    for (let i = many; i < 2 * many; i += 101) assertFound(index, keyOf(i, laterMs), laterMs);
    for (let i = 0; i < many; i += 101) assert.equal(index.get(digestOf(i), laterMs), undefined);
  });
}

test('keys that come and go for weeks are known for a day each', () => {
  const index = new IdempotencyIndex();
  const perHour = 500;
  for (let hour = 0; hour < 24 * 14; hour++) {
    const nowMs = startMs + hour * hourMs;
    for (let i = 0; i < perHour; i++) index.add(keyOf(hour * perHour + i, nowMs));
    const known = (age: number) => {
      if (hour < age) return false;
      return index.get(digestOf((hour - age) * perHour + 7), nowMs) !== undefined;
    };
    assert.equal(known(23), hour >= 23);
    assert.equal(known(24), false);
  }
});

test('keys that were chosen for their digests do not keep those of others from being found quickly', () => {
  const count = 6_000;
  const others = Array.from({ length: 500 }, (_, i) => digestOf(count + i));
  /** Microseconds, the best of some rounds. */
  const searchTimeBeside = (chosen: (i: number) => Uint8Array): number => {
    const index = new IdempotencyIndex();
    for (let i = 0; i < count; i++) index.add({ ...keyOf(i, startMs), keyDigest: chosen(i) });
    const rounds = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      for (const each of others) assert.equal(index.get(each, startMs), undefined);
      return ((performance.now() - begun) * 1000) / others.length;
    });
    return Math.min(...rounds);
  };
  const ordinary = searchTimeBeside(digestOf);
  // Their first words are alike in the lower bits, or altogether.
  for (const mask of [0xff, 0]) {
    const beside = searchTimeBeside((i) => {
      const digest = digestOf(i);
      new DataView(digest.buffer).setUint32(0, i & mask, true);
      return digest;
    });
    assert.ok(beside < 5 * ordinary + 5, `${beside} µs beside them, ${ordinary} µs otherwise`);
  }
});

test('a million keys are added in little time, and each is found', () => {
  const index = new IdempotencyIndex();
  const count = 1_000_000;
  const keyDigest = new Uint8Array(16);
  const words = new Uint32Array(keyDigest.buffer);
  const setDigest = (i: number) => {
    words[0] = Math.imul(i, 0x9e3779b1);
    words[1] = i;
  };
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    setDigest(i);
    index.add({ keyDigest, fingerprint: keyDigest, usedAtMs: startMs, location: { record: i, offset: 0 } });
  }
  assert.ok(process.cpuUsage(before).user < 5_000_000);
  for (let i = 0; i < count; i += 997) {
    setDigest(i);
    assert.equal(index.get(keyDigest, startMs)?.location.record, i);
  }
});

test('what a checkpoint has is loaded as if each key had been added, without those that have expired', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => keyOf(i, startMs + i * 6_000));
  const list = new IdempotencyRecordList();
  for (const key of keys) list.push({ ...key, slot: 1 });
  const nowMs = keys.at(-1)!.usedAtMs;
  const loaded = new IdempotencyIndex();
  loaded.load([new PackedRecords(list.rows())], nowMs - idempotencyRetentionMs);
  const added = new IdempotencyIndex();
  for (const key of keys) added.add(key);
  const more = Array.from({ length: 30_000 }, (_, i) => keyOf(20_000 + i, nowMs + i));
  for (const key of more) loaded.add(key);
  for (const key of more) added.add(key);
  for (const [i, { keyDigest }] of [...keys, ...more].entries()) {
    const found = loaded.get(keyDigest, nowMs);
    assert.deepEqual(found, added.get(keyDigest, nowMs));
    assert.equal(found !== undefined, i >= 5_600);
  }
});

test('what was loaded counts when the table must grow, so that there is room for every key', () => {
  // Of the sizes from which a table is chosen this is close to the largest for its size.
  const keys = Array.from({ length: 18_500 }, (_, i) => keyOf(i, startMs));
  const list = new IdempotencyRecordList();
  for (const key of keys.slice(0, 6_500)) list.push({ ...key, slot: 1 });
  const index = new IdempotencyIndex();
  index.load([new PackedRecords(list.rows())], startMs);
  for (const key of keys.slice(6_500)) index.add(key);
  for (const key of keys) assertFound(index, key, startMs);
});

test('a generation whose keys have all expired is dropped whole, and its memory is used again', () => {
  const index = new IdempotencyIndex();
  const perHour = 10_000;
  const sizes: number[] = [];
  for (let hour = 0; hour < 24 * 4; hour++) {
    for (let i = 0; i < perHour; i++) index.add(keyOf(hour * perHour + i, startMs + hour * hourMs));
    sizes.push(index.bytes / (perHour * Math.min(hour + 1, 25)));
  }
  // 32 bytes for the row, and 10 to 20 for its slots, twice while the slots are moved.
  for (const [hour, size] of sizes.entries()) assert(size > 40 && size < 75, `${size} bytes in hour ${hour}`);
  index.add(keyOf(0, startMs + 200 * hourMs));
  const last = 24 * 4 * perHour - 1;
  assert.equal(index.get(digestOf(last), startMs + 200 * hourMs), undefined);
  for (let i = 0; i < 200_000; i++) index.add(keyOf(1_000_000 + i, startMs + 200 * hourMs));
  assert(index.bytes < 200_000 * 60, String(index.bytes));
});

test('it answers like a map with times, whatever happens in whatever order', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.nat(3_000) }) },
    { weight: 1, arbitrary: fc.record({ burst: fc.integer({ min: 500, max: 3_000 }) }) },
    { weight: 1, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 20 * hourMs }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const index = new IdempotencyIndex();
      const model = new Map<number, UsedKey>();
      let nowMs = startMs;
      let serial = 0;
      const isKnown = (number: number) => {
        const key = model.get(number);
        return key !== undefined && key.usedAtMs + idempotencyRetentionMs > nowMs;
      };
      const add = (number: number) => {
        // A key that is known is answered from its record and never added.
        if (isKnown(number)) return;
        const key = { ...keyOf(number, nowMs), location: { record: ++serial, offset: 0 } };
        index.add(key);
        model.set(number, key);
      };
      for (const each of steps) {
        if ('add' in each) add(each.add);
        else if ('burst' in each) for (let i = 0; i < each.burst; i++) add((i * 7_919 + serial) % 20_000);
        else nowMs += each.waitMs - (each.waitMs % 1_000) + 1_000;
      }
      for (const [number, key] of model) {
        const found = index.get(key.keyDigest, nowMs);
        assert.equal(found?.location.record, isKnown(number) ? key.location.record : undefined);
      }
    }),
    { numRuns: 60 },
  );
});
