// A machine whose wall clock is wrong: waits and deadlines follow the time that has really passed,
// not the steps of the clock, and dates are right as soon as the clock is, also over restarts and
// boots.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { believedAfterMs } from '../../src/core/service-clock.ts';
import type { DueDelivery, FromShard } from '../../src/shard/protocol.ts';
import { Actor, type Answer, account, settled } from './actor.ts';

const create = 'POST /v1/payment_intents';
const intent = { amount: 20_000, currency: 'mad' };
const session = { ...intent, success_url: 'https://shop.example/thanks' };
const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];
const aheadMs = 25.5 * hourMs;

async function pass(actor: Actor, ms: number): Promise<void> {
  actor.clock.advance(ms);
  actor.shard.tick();
  await settled();
}

const step = (actor: Actor, byMs: number) => actor.clock.set(actor.clock.now() + byMs);

// An hour back.

test('the clock goes an hour back: rate limits refill', async () => {
  const few = { perMinute: 6, source: 'custom', untilMs: null } as const;
  const limits = { ...account.limits.test, buckets: { ...account.limits.test.buckets, writes: few } };
  const known = { ...account, limits: { test: limits, live: limits } };
  const actor = new Actor();
  await actor.restart(known);
  const statuses = async (count: number) => {
    const answers = Array.from({ length: count }, () => actor.send('POST /v1/customers'));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await statuses(8), [200, 200, 200, 200, 200, 200, 200, 429]);
  step(actor, -hourMs);
  assert.deepEqual(await statuses(1), [429], 'the step itself refills nothing');
  await pass(actor, 20 * secondMs);
  assert.deepEqual(await statuses(3), [200, 200, 429]);
  await actor.shard.writeMetadata();
  await actor.restart(known);
  await pass(actor, 10 * secondMs);
  assert.deepEqual(await statuses(2), [200, 429]);
});

test('the clock goes an hour back: attempts and sessions end in their time, retries leave', async () => {
  const actor = new Actor();
  const leased: DueDelivery[] = [];
  const peer = {
    post: (message: FromShard) => {
      if ('outbox' in message) leased.push(...message.outbox.deliveries);
    },
  };
  actor.shard.receive({ outbox: { thread: 0, open: true, reports: [] } }, peer);
  const body = { url: 'https://shop.example/', enabled_events: ['payment_intent.created'] };
  const endpoint = actor.send('POST /v1/webhook_endpoints', { body });
  await settled();
  actor.lookUps[0]!.settle(true);
  await endpoint;
  const { id } = (await actor.send(create, { body: intent, key: 'a' })).json;
  const confirmed = actor.send(`POST /v1/payment_intents/${id}/confirm`, { key: 'b' });
  await settled();
  await actor.settle({ result: 'done' });
  await confirmed;
  const expires_at = actor.clock.now() / 1000 + 3_600;
  const { json: open } = await actor.send('POST /v1/checkout/sessions', {
    body: { ...session, expires_at },
    key: 'c',
  });
  const first = leased.find(({ number }) => number === 0)!;
  step(actor, -hourMs);
  const result = { at_ms: 0, duration_ms: 1, status: 500, failure: 'answered 500', answer: '' };
  const { id: delivery, ...rest } = first;
  actor.shard.receive({ outbox: { thread: 0, open: false, reports: [{ ...rest, delivery, result }] } }, peer);
  await settled();
  await pass(actor, 6 * secondMs);
  assert.deepEqual([leased.at(-1)!.id, leased.at(-1)!.number], [first.id, 1], 'the retry after five seconds');
  const statusOf = async (path: string) => (await actor.send(`GET /v1/${path}`)).json.status;
  await pass(actor, 29 * minuteMs);
  assert.equal(await statusOf(`payment_intents/${id}`), 'requires_action');
  await pass(actor, minuteMs);
  assert.equal(await statusOf(`payment_intents/${id}`), 'requires_payment_method');
  assert.equal(await statusOf(`checkout/sessions/${open.id}`), 'open');
  await pass(actor, 30 * minuteMs);
  assert.equal(await statusOf(`checkout/sessions/${open.id}`), 'expired');
});

// 25.5 hours ahead for two seconds.

type Interruption = 'nothing' | 'crash' | 'crash, time written' | 'checkpoint' | 'stop' | 'boot';
const interruptions: readonly Interruption[] = [
  'nothing',
  'crash',
  'crash, time written',
  'checkpoint',
  'stop',
  'boot',
];

async function interrupt(actor: Actor, by: Interruption): Promise<void> {
  if (by === 'nothing') return;
  if (by === 'crash, time written') await actor.shard.writeMetadata();
  if (by === 'checkpoint') await actor.shard.checkpoint();
  if (by === 'stop') await actor.shard.stop();
  actor.clock.advance(200);
  if (by === 'boot') actor.clock.reboot(30 * secondMs);
  await actor.restart();
}

for (const ahead of interruptions) {
  for (const corrected of interruptions) {
    test(`the clock is a day ahead for two seconds, while ahead: ${ahead}; when corrected: ${corrected}`, async () => {
      const actor = new Actor();
      // A shard writes the time down before it is ready.
      await actor.shard.writeMetadata();
      const firsts: Answer[] = [];
      const keys = ['a', 'b', 'c', 'd', 'e'];
      for (const key of keys) firsts.push(await actor.send(create, { body: intent, key }));
      const { json: open } = await actor.send('POST /v1/checkout/sessions', { body: session, key: 's' });
      const replays = async () => {
        const answers = keys.map((key) => actor.send(create, { body: intent, key }));
        return (await Promise.all(answers)).filter(
          ({ replayed, text }, i) => replayed && text === firsts[i]!.text,
        ).length;
      };
      await pass(actor, secondMs);

      step(actor, aheadMs);
      await pass(actor, secondMs);
      await interrupt(actor, ahead);
      assert.equal(await replays(), 5, 'while it is ahead');
      const { json: between } = await actor.send(create, { body: intent, key: 'between' });
      // After a boot there is nothing but the wall clock to tell dates by.
      const isBelieved = between.created * 1000 > actor.clock.now() - aheadMs;
      assert.equal(isBelieved, ahead === 'boot');
      await actor.shard.checkpoint();
      await pass(actor, secondMs);

      step(actor, -aheadMs);
      await interrupt(actor, corrected);
      await pass(actor, secondMs);
      assert.equal(await replays(), 5, 'when it is corrected');
      const { json: after } = await actor.send(create, { body: intent, key: 'after' });
      const now = Math.floor(actor.clock.now() / 1000);
      assert.ok(after.created <= now && after.created >= now - 1, `${after.created - now} s from now`);
      assert.ok(after.id > between.id && between.id > firsts[4]!.json.id, 'ids ascend');
      const { json: seen } = await actor.send(`GET /v1/checkout/sessions/${open.id}`);
      assert.equal(seen.status, 'open');

      await pass(actor, 23 * hourMs);
      await actor.shard.checkpoint();
      await actor.restart();
      assert.equal(await replays(), 5, 'for all of a day');
    });
  }
}

test('the clock is a day ahead when the machine has booted, and is corrected soon', async () => {
  const actor = new Actor();
  await actor.shard.writeMetadata();
  const first = await actor.send(create, { body: intent, key: 'a' });
  const { json: open } = await actor.send('POST /v1/checkout/sessions', { body: session, key: 's' });
  actor.clock.reboot(minuteMs + aheadMs);
  await actor.restart();
  const replays = async () =>
    (await actor.send(create, { body: intent, key: 'a' })).json.id === first.json.id;
  assert.ok(await replays());
  await pass(actor, minuteMs);
  await actor.shard.checkpoint();
  step(actor, -aheadMs);
  for (let minutes = 0; minutes < 20; minutes++) await pass(actor, minuteMs);
  assert.ok(await replays());
  const { json: after } = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(after.created, Math.floor(actor.clock.now() / 1000));
  assert.equal((await actor.send(`GET /v1/checkout/sessions/${open.id}`)).json.status, 'open');
});

test('what passes while the service is down has passed when it is back on the same boot', async () => {
  const actor = new Actor();
  await actor.shard.writeMetadata();
  const first = await actor.send(create, { body: intent, key: 'a' });
  const { json: open } = await actor.send('POST /v1/checkout/sessions', { body: session, key: 's' });
  actor.clock.advance(2 * 24 * hourMs);
  await actor.restart();
  await actor.shard.catchUp();
  assert.equal((await actor.send(`GET /v1/checkout/sessions/${open.id}`)).json.status, 'expired');
  assert.notEqual((await actor.send(create, { body: intent, key: 'a' })).json.id, first.json.id);
});

test('what passes while the machine is off has passed once its clock has stood, over a restart too', async () => {
  const actor = new Actor();
  await actor.shard.writeMetadata();
  const first = await actor.send(create, { body: intent, key: 'a' });
  actor.clock.reboot(2 * 24 * hourMs);
  await actor.restart();
  const again = async () => (await actor.send(create, { body: intent, key: 'a' })).json;
  const { json: dated } = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(dated.created, Math.floor(actor.clock.now() / 1000), 'dates follow the clock at once');
  await pass(actor, believedAfterMs - 1);
  assert.equal((await again()).id, first.json.id);
  await actor.shard.writeMetadata();
  await actor.restart();
  await pass(actor, 1);
  assert.notEqual((await again()).id, first.json.id);
});

test('a step that stands is told, and followed by dates alone', async () => {
  const actor = new Actor();
  const { json: before } = await actor.send(create, { body: intent, key: 'a' });
  step(actor, -hourMs);
  await pass(actor, minuteMs);
  assert.deepEqual([actor.jumps, actor.followed], [[-hourMs], []]);
  assert.equal(actor.shard.clockOffMs, -hourMs);
  await pass(actor, believedAfterMs);
  assert.deepEqual([actor.jumps, actor.followed], [[-hourMs], [-hourMs]]);
  assert.equal(actor.shard.clockOffMs, 0);
  const { json: after } = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(after.created, Math.floor(actor.clock.now() / 1000));
  assert.ok(after.created < before.created && after.id > before.id);
  const listed = async (query: string) =>
    (await actor.send(`GET /v1/payment_intents?${query}`)).json.data.map(({ id }: { id: string }) => id);
  const noon = before.created - 1_800;
  assert.deepEqual(await listed(`created[lt]=${noon}`), [after.id]);
  assert.deepEqual(await listed(`created[gte]=${noon}`), [before.id]);
  assert.deepEqual(await listed(`created[gte]=${after.created}&created[lte]=${before.created}`), [
    after.id,
    before.id,
  ]);
});

test('the clock is put forward for good: a key that is in the checkpoint is kept over a start', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body: intent, key: 'a' });
  await actor.shard.checkpoint();
  step(actor, aheadMs);
  await pass(actor, minuteMs);
  await pass(actor, believedAfterMs);
  assert.deepEqual(actor.followed, [aheadMs]);
  await actor.shard.writeMetadata();
  await actor.restart();
  const again = await actor.send(create, { body: intent, key: 'a' });
  assert.equal(again.json.id, first.json.id);
});

test('a list up to a time since the clock was right again reads its page, and not what is newer', async () => {
  const actor = new Actor();
  await actor.shard.writeMetadata();
  step(actor, aheadMs);
  for (const ms of [minuteMs, believedAfterMs]) await pass(actor, ms);
  await actor.send(create, { body: intent, key: 'ahead' });
  step(actor, -aheadMs);
  for (const ms of [minuteMs, believedAfterMs]) await pass(actor, ms);
  await actor.send(create, { body: intent, key: 'back' });
  await pass(actor, aheadMs);
  const { json: wanted } = await actor.send(create, { body: intent, key: 'wanted' });
  await pass(actor, minuteMs);
  for (let i = 0; i < 50; i++) await actor.send(create, { body: intent, key: `newer ${i}` });
  const { records } = actor.shard.state;
  const scan = records.scan.bind(records);
  let read = 0;
  records.scan = function* (...range) {
    for (const record of scan(...range)) {
      read++;
      yield record;
    }
  };
  const { json } = await actor.send(`GET /v1/payment_intents?limit=1&created[lt]=${wanted.created + 30}`);
  assert.equal(json.data[0].id, wanted.id);
  assert.equal(read, 2);
});
