// The reports of webhook attempts to a shard are recorded once, acknowledged when they are durable,
// and not lost by a full disk, a failed commit or a restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsOf } from '../../src/domain/find.ts';
import { attemptSerialIndex, endedIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { AttemptRecord, DeliveryRecord } from '../../src/domain/record.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { type EncodedRecord, encodeRecord } from '../../src/journal/records/record-bytes.ts';
import type { Peer } from '../../src/shard/commit-batch.ts';
import type { DueDelivery, FromShard, OutboxBatch } from '../../src/shard/protocol.ts';
import { Actor, settled } from './actor.ts';

/** The webhook thread's end of its line to the shard. */
class Webhooks {
  readonly actor: Actor;
  readonly batches: OutboxBatch[] = [];
  /** What receivers answer. */
  answer = '';
  readonly #peer: Peer = {
    post: (message: FromShard) => {
      if ('outbox' in message) this.batches.push(message.outbox);
    },
  };

  constructor(actor: Actor) {
    this.actor = actor;
  }

  get deliveries(): readonly DueDelivery[] {
    return this.batches.flatMap(({ deliveries }) => deliveries);
  }

  get recorded(): readonly { readonly delivery: string; readonly number: number }[] {
    return this.batches.flatMap(({ recorded }) => recorded);
  }

  /** Reports attempts that failed; `open` as after a start of either side. */
  async report(open: boolean, ...attempts: readonly DueDelivery[]): Promise<void> {
    const result = { at_ms: 0, duration_ms: 1, status: 500, failure: 'answered 500', answer: this.answer };
    const reports = attempts.map(({ id, ...rest }) => ({ ...rest, delivery: id, result }));
    this.actor.shard.receive({ outbox: { thread: 0, open, reports } }, this.#peer);
    await settled();
  }

  async tick(): Promise<void> {
    this.actor.shard.tick();
    await settled();
  }
}

/** A shard with one delivery, which the webhook thread has got. */
async function oneDelivery() {
  const actor = new Actor();
  const webhooks = new Webhooks(actor);
  await webhooks.report(true);
  const body = { url: 'https://shop.example/', enabled_events: ['*'] };
  const endpoint = actor.send('POST /v1/webhook_endpoints', { body });
  await settled();
  actor.lookUps[0]!.settle(true);
  await endpoint;
  await actor.send('POST /v1/payment_intents', { body: { amount: 20_000, currency: 'mad' }, key: 'a' });
  await settled();
  const [delivery] = webhooks.deliveries;
  assert.ok(delivery);
  const record = () => actor.shard.state.records.get('delivery', delivery.id) as DeliveryRecord;
  return { actor, webhooks, delivery, record };
}

test('an attempt is recorded once, however often it is reported', async () => {
  const { webhooks, delivery, record } = await oneDelivery();
  await webhooks.report(false, delivery);
  await webhooks.report(false, delivery);
  assert.equal(record().attempt_count, 1);
  assert.equal(webhooks.recorded.length, 2, 'it is acknowledged each time');
});

test('nothing is leased or acknowledged before it is durable', async () => {
  const { actor, webhooks, delivery } = await oneDelivery();
  actor.holdDisk();
  await webhooks.report(false, delivery);
  assert.equal(webhooks.recorded.length, 0);
  await actor.releaseDisk();
  assert.deepEqual(webhooks.recorded, [{ endpoint: delivery.endpoint, delivery: delivery.id, number: 0 }]);
});

test('a full disk: reports are not acknowledged, and recorded when they come again', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  actor.shard.state.setReadOnly(true);
  await webhooks.report(false, delivery);
  await webhooks.tick();
  assert.deepEqual([webhooks.recorded.length, record().attempt_count], [0, 0]);
  actor.shard.state.setReadOnly(false);
  await webhooks.report(false, delivery);
  assert.deepEqual([webhooks.recorded.length, record().attempt_count], [1, 1]);
});

test('a commit that fails: the next shard gets the reports, and leases what waits', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  actor.journal.failNextAppend({ diskFull: true });
  await webhooks.report(false, delivery);
  assert.equal(actor.failures.length, 1);
  assert.equal(webhooks.recorded.length, 0);
  await actor.restart();
  await webhooks.report(true, delivery);
  assert.deepEqual([webhooks.recorded.length, record().attempt_count], [1, 1]);
  actor.clock.advance(10_000);
  await webhooks.tick();
  assert.deepEqual([webhooks.deliveries.at(-1)!.id, webhooks.deliveries.at(-1)!.number], [delivery.id, 1]);
});

test('an acknowledgement that was lost is given again, even on a full disk: the next attempt waits for it', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  await webhooks.report(false, delivery);
  webhooks.batches.length = 0;
  await actor.restart();
  actor.shard.state.setReadOnly(true);
  actor.clock.advance(10_000);
  await webhooks.report(true, delivery);
  assert.deepEqual([webhooks.recorded.length, webhooks.deliveries.length], [1, 0]);
  actor.shard.state.setReadOnly(false);
  await webhooks.tick();
  assert.deepEqual([webhooks.deliveries.length, webhooks.deliveries[0]?.number], [1, 1]);
  assert.equal(record().attempt_count, 1);
});

/** The attempts of the organization, by their serial numbers. */
function attemptsIn(actor: Actor, record: DeliveryRecord): AttemptRecord[] {
  const index = attemptSerialIndex(scopeOf(record.org, record.livemode));
  return [...recordsOf(actor.shard.state.records, 'attempt', index, { descending: false })];
}

test('140 answers of an organization are kept at once, and then two a second; the results always', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  webhooks.answer = 'no';
  const answered = async () => {
    const { attempt_count: number } = record();
    await webhooks.report(false, { ...delivery, number });
    return attemptsIn(actor, record()).at(-1)!.answer !== null;
  };
  for (let i = 0; i < 140; i++) assert.ok(await answered(), `answer ${i}`);
  assert.equal(await answered(), false);
  assert.equal(record().attempt_count, 141);
  actor.clock.advance(500);
  assert.deepEqual([await answered(), await answered()], [true, false]);
});

test('the numbers of attempts go on after a restart, also past one that is damaged', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  const fail = (open: boolean) => webhooks.report(open, { ...delivery, number: record().attempt_count });
  const serials = () => attemptsIn(actor, record()).map(({ serial }) => serial);
  await fail(false);
  await fail(false);
  await actor.restart();
  await fail(true);
  assert.deepEqual(serials(), [1, 2, 3]);
  const newest = attemptsIn(actor, record()).at(-1)!.id;
  await actor.restart();
  const { records } = actor.shard.state;
  const scan = records.scan.bind(records);
  records.scan = function* (index, range, aside) {
    for (const found of scan(index, range, aside)) {
      if (found.id !== newest) yield found;
      else if (aside === undefined) throw new JournalDamaged(`${newest} is damaged`);
    }
  };
  await fail(true);
  records.scan = scan;
  assert.deepEqual(serials(), [1, 2, 3, 3]);
  assert.equal(record().attempt_count, 4);
});

test('an attempt that is damaged keeps no other from being recorded, and those beside it beyond the quota', async () => {
  const { actor, webhooks, delivery, record } = await oneDelivery();
  webhooks.answer = 'no';
  const { records } = actor.shard.state;
  const scan = records.scan.bind(records);
  let damagedAt = 10;
  records.scan = function* (index, range, aside) {
    for (const found of scan(index, range, aside)) {
      if (found.kind === 'attempt' && found.serial === damagedAt && aside === undefined)
        throw new JournalDamaged(`attempt ${damagedAt} is damaged`);
      yield found;
    }
  };
  const failUpTo = async (count: number) => {
    for (let number = record().attempt_count; number < count; number++)
      await webhooks.report(false, { ...delivery, number });
  };
  await failUpTo(320);
  assert.equal(record().attempt_count, 320);
  assert.deepEqual([actor.failures, actor.damages.length > 0], [[], true]);
  damagedAt = 0;
  assert.equal(attemptsIn(actor, record()).length, 320, 'the first 64 stay, with the damaged one');
  await failUpTo(384);
  assert.equal(attemptsIn(actor, record())[0]!.serial, 1);
  assert.equal(attemptsIn(actor, record()).length, 320, 'the next 64 are gone');
});

test('retention keeps up with deliveries of both modes: while more is too old it goes on with every look at the time', async () => {
  const { actor, webhooks, delivery } = await oneDelivery();
  const { records } = actor.shard.state;
  const over: DeliveryRecord = {
    ...records.get('delivery', delivery.id)!,
    status: 'failed',
    due_at_ms: null,
    ended_at_ms: actor.clock.now(),
  };
  const count = 1_200;
  const many: EncodedRecord[] = [];
  for (let i = 0; i < count; i++) {
    const id = `whd_0${String(i).padStart(30, '0')}`;
    many.push(encodeRecord({ ...over, id, livemode: i % 3 === 0 }));
  }
  const { checkpoint } = actor.journal;
  await checkpoint.write({ records: many, sequence: checkpoint.sequence, idempotencyRecords: [] });
  const left = () => [...records.scan(endedIndex, { descending: false })].length;
  assert.equal(left(), count);
  const leftAfter: number[] = [];
  for (const advanceMs of [30 * 86_400_000 + 1_001, 100, 100]) {
    actor.clock.advance(advanceMs);
    await webhooks.tick();
    leftAfter.push(left());
  }
  assert.deepEqual([leftAfter, actor.failures], [[700, 200, 0], []]);
});

for (const [what, soundReads] of [
  ['whose record is damaged', 0],
  ['whose deliveries can not be ended, because a record is damaged,', 1],
] as const) {
  test(`a deleted endpoint ${what} is left until the next start, and the shard goes on`, async () => {
    const { actor, webhooks, delivery } = await oneDelivery();
    const { outboxes, records } = actor.shard.state;
    const get = records.get.bind(records);
    let reads = 0;
    records.get = (kind, id) => {
      if (kind === 'webhook_endpoint' && reads++ >= soundReads) throw new JournalDamaged(`${id} is damaged`);
      return get(kind, id);
    };
    outboxes.draining.set(delivery.endpoint, undefined);
    actor.clock.advance(1_000);
    await webhooks.tick();
    records.get = get;
    assert.deepEqual(actor.damages, [`${delivery.endpoint} is damaged`]);
    assert.deepEqual([outboxes.draining.size, actor.failures], [0, []]);
    const { status } = await actor.send('GET /v1/account');
    assert.equal(status, 200);
  });
}
