// The reports of webhook attempts to a shard are recorded once, acknowledged when they are durable,
// and not lost by a full disk, a failed commit or a restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsOf } from '../../src/domain/find.ts';
import { attemptSerialIndex, scopeOf } from '../../src/domain/indexes.ts';
import type { AttemptRecord, AttemptResult, DeliveryRecord } from '../../src/domain/record.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { encodeRecord } from '../../src/journal/records/record-bytes.ts';
import { CommitBatch, type Peer } from '../../src/shard/commit-batch.ts';
import type { DueDelivery, FromShard, OutboxBatch } from '../../src/shard/protocol.ts';
import { Actor, settled } from './actor.ts';

type Ended = Pick<AttemptResult, 'status' | 'failure'>;

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
  report(open: boolean, ...attempts: readonly DueDelivery[]): Promise<void> {
    return this.#report(open, attempts, { status: 500, failure: 'answered 500' });
  }

  /** Reports attempts that succeeded. */
  succeed(...attempts: readonly DueDelivery[]): Promise<void> {
    return this.#report(false, attempts, { status: 200, failure: null });
  }

  #report(open: boolean, attempts: readonly DueDelivery[], ended: Ended): Promise<void> {
    return this.reportEach(
      open,
      attempts.map((attempt) => [attempt, ended]),
    );
  }

  async reportEach(
    open: boolean,
    attempts: readonly (readonly [attempt: DueDelivery, ended: Ended])[],
  ): Promise<void> {
    const reports = attempts.map(([{ id, ...rest }, ended]) => ({
      ...rest,
      delivery: id,
      result: { at_ms: 0, duration_ms: 1, ...ended, answer: this.answer },
    }));
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

/** A shard with three deliveries to each of two endpoints of an organization, and one that failed before. */
async function sevenDeliveries() {
  const { actor, webhooks, delivery } = await oneDelivery();
  await webhooks.report(false, delivery);
  const body = { url: 'https://shop.example/2', enabled_events: ['*'] };
  const endpoint = actor.send('POST /v1/webhook_endpoints', { body });
  await settled();
  actor.lookUps[1]!.settle(true);
  await endpoint;
  for (const key of ['b', 'c', 'd'])
    await actor.send('POST /v1/payment_intents', { body: { amount: 20_000, currency: 'mad' }, key });
  await settled();
  const [, ...new6] = webhooks.deliveries;
  assert.deepEqual([new6.length, new Set(new6.map((each) => each.endpoint)).size], [6, 2]);
  actor.clock.advance(10_000);
  await webhooks.tick();
  webhooks.batches.length = 0;
  return { actor, webhooks, deliveries: [{ ...delivery, number: 1 }, ...new6] };
}

const deliveryOf = (actor: Actor, id: string) => actor.shard.state.records.get('delivery', id);

test('first attempts that succeeded are recorded by one entry of the log for each endpoint, others by their own', async () => {
  const { actor, webhooks, deliveries } = await sevenDeliveries();
  const before = actor.journal.log.nextSequence;
  await webhooks.succeed(...deliveries);
  assert.equal(actor.journal.log.nextSequence - before, 3);
  const told = deliveries.map(({ endpoint, id, number }) => ({ endpoint, delivery: id, number }));
  assert.deepEqual(webhooks.recorded, told);
  await webhooks.succeed(...deliveries);
  assert.equal(
    actor.journal.log.nextSequence - before,
    3,
    'what is recorded is acknowledged and nothing else',
  );
  assert.deepEqual(webhooks.recorded, [...told, ...told]);
  await actor.restart();
  for (const { id, number } of deliveries) {
    const { status, attempt_count, first_status } = deliveryOf(actor, id)!;
    const first = number === 0 ? 200 : null;
    assert.deepEqual([status, attempt_count, first_status], ['succeeded', number + 1, first]);
  }
});

test('the last attempt of a message says whether its endpoint fails, however each is recorded', async () => {
  const { actor, webhooks, deliveries } = await sevenDeliveries();
  const { endpoint } = deliveries[1]!;
  const toOne = deliveries.filter((each) => each.endpoint === endpoint && each.number === 0);
  const [first, second, third] = toOne as [DueDelivery, DueDelivery, DueDelivery];
  const success: Ended = { status: 200, failure: null };
  const failure: Ended = { status: 500, failure: 'answered 500' };
  await webhooks.reportEach(false, [
    [first, success],
    [second, failure],
  ]);
  assert.ok(actor.shard.state.health.failing().includes(endpoint));
  await webhooks.reportEach(false, [
    [{ ...second, number: 1 }, failure],
    [third, success],
  ]);
  assert.ok(!actor.shard.state.health.failing().includes(endpoint));
});

test('an endpoint that is changed fails still; one that is deleted does not, whatever is reported of it later', async () => {
  const { actor, webhooks, deliveries } = await sevenDeliveries();
  const { endpoint } = deliveries[1]!;
  const [first, second] = deliveries.filter((each) => each.endpoint === endpoint && each.number === 0);
  const { health } = actor.shard.state;
  await webhooks.report(false, first!);
  await actor.send(`POST /v1/webhook_endpoints/${endpoint}`, { body: { enabled_events: ['*'] } });
  assert.ok(health.failing().includes(endpoint));
  await actor.send(`DELETE /v1/webhook_endpoints/${endpoint}`);
  assert.ok(!health.failing().includes(endpoint));
  await webhooks.report(false, second!);
  assert.deepEqual(
    [health.failing().includes(endpoint), health.of(endpoint, actor.clock.now())],
    [false, null],
  );
});

test('a report that names a delivery twice, or one that is damaged, leaves the others as they are', async () => {
  const { actor, webhooks, deliveries } = await sevenDeliveries();
  const [, twice, damaged, sound] = deliveries as [DueDelivery, DueDelivery, DueDelivery, DueDelivery];
  const { records } = actor.shard.state;
  const get = records.get.bind(records);
  records.get = (kind, id) => {
    if (id === damaged.id) throw new JournalDamaged(`${id} is damaged`);
    return get(kind, id);
  };
  await webhooks.succeed(twice, damaged, twice, sound);
  records.get = get;
  const counts = [twice, damaged, sound].map(({ id }) => deliveryOf(actor, id)!.attempt_count);
  assert.deepEqual(counts, [1, 0, 1]);
  assert.deepEqual([actor.failures, actor.damages], [[], [`${damaged.id} is damaged`]]);
});

test('successes of an endpoint whose record is damaged are not recorded, those of another are', async () => {
  const { actor, webhooks, deliveries } = await sevenDeliveries();
  const [, ...new6] = deliveries;
  const [{ endpoint: damaged }] = new6 as [DueDelivery];
  const { records } = actor.shard.state;
  const get = records.get.bind(records);
  records.get = (kind, id) => {
    if (id === damaged) throw new JournalDamaged(`${id} is damaged`);
    return get(kind, id);
  };
  await webhooks.succeed(...new6);
  records.get = get;
  for (const { id, endpoint } of new6)
    assert.equal(deliveryOf(actor, id)!.attempt_count, endpoint === damaged ? 0 : 1);
  assert.deepEqual(actor.failures, []);
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

test('of many deleted endpoints some are dealt with in a commit batch, by turns', async () => {
  const { actor, record } = await oneDelivery();
  const given: string[] = [];
  for (let i = 1; i <= 5; i++) {
    const created = actor.send('POST /v1/webhook_endpoints', {
      body: { url: `https://shop.example/${i}`, enabled_events: ['*'] },
    });
    await settled();
    actor.lookUps[i]!.settle(true);
    given.push((await created).json.id);
  }
  const { checkpoint } = actor.journal;
  // One command ends 128, so all but the last need another one.
  const waiting = given.slice(0, 4).flatMap((endpoint, of) =>
    Array.from({ length: 129 }, (_, i) => {
      const id = `whd_${of + 1}${String(i).padStart(30, '0')}`;
      return encodeRecord({ ...record(), id, endpoint });
    }),
  );
  await checkpoint.write({ records: waiting, sequence: checkpoint.sequence, idempotencyRecords: [] });
  for (const id of given) await actor.send(`DELETE /v1/webhook_endpoints/${id}`);
  const perBatch = new Map<CommitBatch, number>();
  const ended: string[] = [];
  const note = CommitBatch.prototype.record;
  CommitBatch.prototype.record = function (changes, ...rest) {
    perBatch.set(this, (perBatch.get(this) ?? 0) + 1);
    for (const { kind, id } of changes) if (kind === 'webhook_endpoint') ended.push(id);
    note.call(this, changes, ...rest);
  };
  actor.clock.advance(100);
  actor.shard.tick();
  while (actor.shard.state.outboxes.draining.size > 0 && actor.failures.length === 0) await settled();
  CommitBatch.prototype.record = note;
  assert.deepEqual([[...perBatch.values()], actor.failures], [[4, 4, 1], []]);
  assert.deepEqual(ended, [given[4], ...given.slice(0, 4)]);
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
