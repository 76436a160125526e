// How a shard removes deliveries that ended long ago: a part of them in a commit batch, and whatever is damaged among them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedIndex } from '../../src/domain/indexes.ts';
import type { AttemptRecord, DeliveryRecord, StoredRecord } from '../../src/domain/record.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { type EncodedRecord, encodeRecord } from '../../src/journal/records/record-bytes.ts';
import { CommitBatch } from '../../src/shard/commit-batch.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { Actor, account, org, settled } from './actor.ts';

const retentionMs = 30 * 86_400_000;
const numbered = (prefix: string, i: number) => `${prefix}_0${String(i).padStart(30, '0')}`;
const idOf = (i: number) => numbered('whd', i);

/** A shard with deliveries that have just ended in two organizations and both modes, each of them with so many attempts. */
async function ended(count: number, attemptsOf: (i: number) => number) {
  const actor = new Actor();
  actor.shard.putAccount({ ...account, id: otherOrg });
  const rows: EncodedRecord[] = [];
  for (let i = 0; i < count; i++) {
    const own = { org: i % 5 === 0 ? otherOrg : org, livemode: i % 3 === 0, created: 0 };
    rows.push(encodeRecord({ ...delivery, ...own, id: idOf(i), ended_at_ms: actor.clock.now() }));
    for (let serial = 0; serial < attemptsOf(i); serial++) {
      const id = numbered('wha', rows.length);
      rows.push(encodeRecord({ ...attempt, ...own, id, delivery: idOf(i), serial }));
    }
  }
  const { checkpoint } = actor.journal;
  await checkpoint.write({ records: rows, sequence: checkpoint.sequence, idempotencyRecords: [] });
  const { records } = actor.shard.state;
  const scan = records.scan.bind(records);
  const left = () => [...scan(endedIndex, { descending: false })].map(({ id }) => id);
  assert.equal(left().length, count);
  /** How many are left after each look at the time, of which the first comes when all are too old. */
  const leftAfter = async (looks: number) => {
    const lengths: number[] = [];
    for (let i = 0; i < looks; i++) {
      actor.clock.advance(i === 0 ? retentionMs + 1_001 : 100);
      actor.shard.tick();
      await settled();
      lengths.push(left().length);
    }
    return lengths;
  };
  return { actor, records, left, leftAfter };
}
const otherOrg = 'org_other0000000000000000000';

const delivery: Omit<DeliveryRecord, 'id' | 'org' | 'livemode' | 'created'> = {
  kind: 'delivery',
  endpoint: numbered('we', 0),
  event: numbered('evt', 0),
  event_type: 'payment_intent.created',
  status: 'failed',
  due_at_ms: null,
  ended_at_ms: null,
  attempt_count: 1,
  tries: 1,
  first_at_ms: null,
  first_duration_ms: null,
  first_status: null,
  answered: [],
};

const attempt: Omit<AttemptRecord, 'id' | 'org' | 'livemode' | 'created' | 'delivery' | 'serial'> = {
  kind: 'attempt',
  at_ms: 0,
  duration_ms: 1,
  status: 500,
  failure: 'answered 500',
  answer: null,
};

test('while more is too old, retention goes on with every look at the time', async () => {
  const { actor, leftAfter } = await ended(1_200, () => 0);
  assert.deepEqual([await leftAfter(3), actor.failures], [[700, 200, 0], []]);
});

/** How many records each commit batch changes while something runs. */
async function changesDuring<T>(run: () => Promise<T>): Promise<{ result: T; changes: number[] }> {
  const batches = new Map<CommitBatch, number>();
  const { record } = CommitBatch.prototype;
  CommitBatch.prototype.record = function (changes, ...rest) {
    batches.set(this, (batches.get(this) ?? 0) + changes.length);
    record.call(this, changes, ...rest);
  };
  const result = await run().finally(() => {
    CommitBatch.prototype.record = record;
  });
  return { result, changes: [...batches.values()] };
}

/** Some records of the store can't be read any more. */
function damage(records: { scan: RecordStore['scan'] }, isDamaged: (found: StoredRecord) => boolean): void {
  const scan = records.scan.bind(records);
  records.scan = function* (index, range, aside) {
    for (const found of scan(index, range, aside)) {
      if (!isDamaged(found)) yield found;
      else if (aside === undefined) throw new JournalDamaged(`${found.id} is damaged`);
    }
  };
}

test('a delivery that has many attempts takes as many steps, so that no commit batch is large', async () => {
  const { actor, leftAfter } = await ended(3, (i) => (i === 1 ? 1_200 : 0));
  const { result: left, changes } = await changesDuring(() => leftAfter(3));
  assert.deepEqual([left, changes, actor.failures], [[2, 2, 0], [500, 500, 203], []]);
});

for (const [what, isDamaged] of [
  ['a delivery that is damaged', (found: StoredRecord, id: string) => found.id === id],
  [
    'one of which an attempt is damaged',
    (found: StoredRecord, id: string) => found.kind === 'attempt' && found.delivery === id,
  ],
] as const) {
  test(`${what} stays, and keeps no other from being removed`, async () => {
    const { actor, records, left, leftAfter } = await ended(12, () => 1);
    damage(records, (found) => isDamaged(found, idOf(1)));
    await leftAfter(2);
    assert.deepEqual([left(), actor.failures], [[idOf(1)], []]);
  });
}

test('where several are damaged no commit batch is larger, and each counts as one', async () => {
  const { actor, records, left, leftAfter } = await ended(400, () => 2);
  // Of one organization and mode.
  const damaged = [1, 2, 7].map(idOf);
  damage(records, (found) => found.kind === 'attempt' && damaged.includes(found.delivery));
  const { changes } = await changesDuring(() => leftAfter(3));
  assert.deepEqual([left(), changes, actor.failures], [damaged, [497, 500, 194], []]);
});
