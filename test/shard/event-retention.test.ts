// How long a shard keeps its events: by the time that has passed, whatever the clock says, a part
// of them in a commit batch, and what it has stored of it survives a restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeOfId } from '../../src/core/ids.ts';
import { kindIndex, scopeOf } from '../../src/domain/indexes.ts';
import { CommitBatch } from '../../src/shard/commit-batch.ts';
import { EventRetention } from '../../src/shard/event-retention.ts';
import { jointRetention, readRetention, retentionKey } from '../../src/shard/metadata.ts';
import { Actor, org, settled, startMs } from './actor.ts';

const dayMs = 86_400_000;
const retentionMs = 30 * dayMs;

async function create(actor: Actor, count = 1, livemode = false): Promise<void> {
  const body = { amount: 20_000, currency: 'mad' };
  for (let i = 0; i < count; i++) {
    const { status } = await actor.send('POST /v1/payment_intents', { body, key: `key-${keys++}`, livemode });
    assert.equal(status, 200);
  }
}
let keys = 0;

/** Lets time pass, and the shard do what it brings. */
async function pass(actor: Actor, ms: number, steps = 1): Promise<void> {
  for (let i = 0; i < steps; i++) {
    actor.clock.advance(ms / steps);
    actor.shard.tick();
    await settled();
    await actor.shard.writeMetadata();
  }
}

const events = ({ shard }: Actor, livemode = false) => [
  ...shard.state.records.scan(kindIndex('event', scopeOf(org, livemode)), { descending: false }),
];
const stored = ({ journal }: Actor) => readRetention(journal.checkpoint.getMetadata(retentionKey));

test('an event leaves a little after its retention, and then is missing', async () => {
  const actor = new Actor();
  await pass(actor, 1_000);
  await create(actor);
  const [first] = events(actor);
  await pass(actor, 15 * dayMs, 150);
  await create(actor);
  await pass(actor, retentionMs - 15 * dayMs - 10_000, 150);
  assert.equal(events(actor).length, 2);
  const { json: before } = await actor.send(`GET /v1/events/${first!.id}`);
  assert.equal(before.id, first!.id);
  await pass(actor, retentionMs / 50, 20);
  assert.equal(events(actor).length, 1);
  const { status, json } = await actor.send(`GET /v1/events/${first!.id}`);
  assert.deepEqual([status, json.error.code], [404, 'resource_missing']);
  const { json: list } = await actor.send('GET /v1/events');
  assert.deepEqual(
    list.data.map(({ id }: { id: string }) => id),
    [events(actor)[0]!.id],
  );
  assert.ok(stored(actor).horizonMs >= timeOfId(first!.id));
  assert.ok(stored(actor).horizonMs < timeOfId(events(actor)[0]!.id));
  assert.ok(stored(actor).marks.length <= 101, String(stored(actor).marks.length));
  await pass(actor, 15 * dayMs, 150);
  assert.equal(events(actor).length, 0);
  assert.deepEqual(actor.failures, []);
});

test('a clock that is set years ahead removes nothing', async () => {
  const actor = new Actor();
  await pass(actor, 1_000);
  await create(actor);
  actor.clock.set(actor.clock.wall() + 10 * 365 * dayMs);
  await pass(actor, 600_000, 60);
  await create(actor);
  assert.equal(events(actor).length, 2);
  await pass(actor, retentionMs * 1.02, 300);
  assert.equal(events(actor).length, 0);
});

test('no commit batch removes many, and what a restart interrupts goes on', async () => {
  const actor = new Actor({ eventRetentionMs: 4 * dayMs });
  await pass(actor, 1_000);
  await create(actor, 300);
  await pass(actor, 4 * dayMs - 60_000, 100);
  assert.equal(events(actor).length, 300);
  const left: number[] = [];
  const minutes: number[] = [];
  let hasRestarted = false;
  for (let minute = 0; events(actor).length > 0; minute++) {
    assert.ok(minute < 1_000, left.join());
    await pass(actor, 60_000);
    const count = events(actor).length;
    if (left.at(-1) !== count) {
      left.push(count);
      minutes.push(minute);
    }
    if (count === 172 && !hasRestarted) {
      hasRestarted = true;
      await actor.shard.checkpoint();
      await actor.restart();
    }
  }
  assert.deepEqual(left, [300, 172, 44, 0]);
  assert.ok(hasRestarted);
  const [, first] = minutes as [number, number];
  assert.deepEqual(minutes.slice(1), [first, first + 1, first + 2], 'it goes on at once');
  const times = stored(actor).marks.map(({ serviceMs }) => serviceMs);
  const tooClose = times.filter((ms, i) => i > 0 && ms - times[i - 1]! < (4 * dayMs) / 100);
  assert.deepEqual(tooClose, [], 'while events are removed no mark comes before it is due');
});

test('a commit batch removes events of one mode only, and the next one those of the other', async () => {
  const actor = new Actor({ eventRetentionMs: 4 * dayMs });
  await pass(actor, 1_000);
  await create(actor, 2, false);
  await create(actor, 2, true);
  await pass(actor, 4 * dayMs - 60_000, 100);
  const left: string[] = [];
  const counts = () => `${events(actor, false).length} test, ${events(actor, true).length} live`;
  const minutes: number[] = [];
  for (let minute = 0; left.at(-1) !== '0 test, 0 live'; minute++) {
    assert.ok(minute < 1_000, left.join('; '));
    await pass(actor, 60_000);
    if (left.at(-1) === counts()) continue;
    left.push(counts());
    minutes.push(minute);
  }
  assert.deepEqual(left, ['2 test, 2 live', '0 test, 2 live', '0 test, 0 live']);
  assert.equal(minutes[2], minutes[1]! + 1);
});

test('it has something to do when a mark is due or old, and at once while events are to be removed', () => {
  const { state } = new Actor().shard;
  const marks = [
    { serviceMs: 1_000, idMs: 5 },
    { serviceMs: 2_000, idMs: 6 },
  ];
  const started = (horizonMs: number, some = marks) =>
    new EventRetention(state, 10_000, { horizonMs, marks: some });
  assert.equal(started(0).dueMs, 2_100, 'nothing was ever removed');
  assert.equal(started(0, marks.slice(0, 1)).dueMs, 1_100);
  assert.equal(started(0, []).dueMs, 0);
  const retention = started(4);
  const runAt = (serviceMs: number) =>
    retention.run(new CommitBatch({ nowMs: startMs, serviceMs }, state.records));
  assert.equal(retention.dueMs, 0, 'what the last process did not finish');
  runAt(2_050);
  assert.equal(retention.dueMs, 2_100);
  runAt(11_000);
  assert.equal(retention.dueMs, 11_100, 'nothing is removed before it is stored up to where');
  retention.stored(retention.unstored!);
  assert.equal(retention.dueMs, 0);
  runAt(11_050);
  assert.equal(retention.dueMs, 11_100);
});

test('nothing is removed before it is stored up to where', async () => {
  const actor = new Actor({ eventRetentionMs: 4 * dayMs });
  await pass(actor, 1_000);
  await create(actor);
  await pass(actor, 2 * dayMs, 50);
  const put = actor.journal.checkpointer.putMetadata;
  actor.journal.checkpointer.putMetadata = () => new Promise(() => {});
  for (let i = 0; i < 50; i++) {
    actor.clock.advance(dayMs / 10);
    actor.shard.tick();
    await settled();
    void actor.shard.writeMetadata();
  }
  assert.equal(events(actor).length, 1);
  actor.journal.checkpointer.putMetadata = put;
  await pass(actor, 60_000, 10);
  assert.equal(events(actor).length, 0);
});

test('shards that take over keep what the one keeps that knows least of the past', () => {
  const old = { horizonMs: 5, marks: [{ serviceMs: 100, idMs: 10 }] };
  const young = { horizonMs: 0, marks: [{ serviceMs: 200, idMs: 20 }] };
  const empty = readRetention(undefined);
  const rows = [
    [[old], old],
    [[old, young], { horizonMs: 5, marks: young.marks }],
    [[young, old, empty], { horizonMs: 5, marks: [] }],
  ] as const;
  for (const [states, expected] of rows) assert.deepEqual(jointRetention(states), expected);
});
