// What a shard finds to do in its indexes: the rows of what is done stay in the checkpoint until that is written again, and
// must not be walked over again with every portion.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueIndex, endedIndex, kindIndex, scopeOf } from '../../src/domain/indexes.ts';
import { Actor, org, settled } from './actor.ts';

const dayMs = 86_400_000;
const count = 600;
const live = (i: number) => i % 2 === 1;
const created = { amount: 20_000, currency: 'mad' };

async function sendAll(actor: Actor, requestOf: (i: number) => Parameters<Actor['send']>): Promise<void> {
  const requests = Array.from({ length: count }, (_, i) => requestOf(i));
  for (const { status } of await actor.sendTogether(...requests)) assert.equal(status, 200);
}

async function pass(actor: Actor, ms: number, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    actor.clock.advance(ms / steps);
    actor.shard.tick();
    await settled();
    await actor.shard.writeMetadata();
  }
}

/** Deliveries that end together, of both modes in turn. */
async function endDeliveries(actor: Actor): Promise<void> {
  const endpoints: string[] = [];
  for (const livemode of [false, true]) {
    const body = { url: 'https://shop.test/', enabled_events: ['*'] };
    const answer = actor.send('POST /v1/webhook_endpoints', { body, livemode });
    await settled();
    actor.lookUps.pop()!.settle(true);
    await settled();
    endpoints.push((await answer).json.id);
  }
  await sendAll(actor, (i) => [
    'POST /v1/payment_intents',
    { body: created, key: `${i}`, livemode: live(i) },
  ]);
  for (const [i, id] of endpoints.entries())
    await actor.send(`DELETE /v1/webhook_endpoints/${id}`, { livemode: live(i) });
  await pass(actor, 1_000, 10);
}

for (const { what, index, make, takesMs } of [
  {
    what: 'sessions that expire at once',
    index: dueIndex,
    takesMs: dayMs,
    make: (actor: Actor) =>
      sendAll(actor, (i) => [
        'POST /v1/checkout/sessions',
        { body: { ...created, success_url: 'https://shop.test/' }, key: `${i}` },
      ]),
  },
  { what: 'deliveries of several scopes', index: endedIndex, takesMs: 30 * dayMs, make: endDeliveries },
  {
    what: 'events',
    index: kindIndex('event', scopeOf(org, false)),
    takesMs: 31 * dayMs,
    make: (actor: Actor) =>
      sendAll(actor, (i) => ['POST /v1/payment_intents', { body: created, key: `${i}` }]),
  },
]) {
  test(`${what} are found a few times each, however many were dealt with since the checkpoint`, async () => {
    const actor = new Actor({ checkpointIntervalMs: Infinity });
    await pass(actor, 1_000, 1);
    await make(actor);
    await actor.shard.checkpoint();
    const { records } = actor.shard.state;
    assert.equal(records.count(index), count);
    const { checkpoint } = actor.journal;
    const scan = checkpoint.scan.bind(checkpoint);
    let walked = 0;
    checkpoint.scan = function* (name, range) {
      for (const key of scan(name, range)) {
        if (name === index) walked++;
        yield key;
      }
    };
    await pass(actor, takesMs + 5_000, 100);
    await pass(actor, 5_000, 50);
    checkpoint.scan = scan;
    assert.deepEqual([records.count(index), actor.failures], [0, []]);
    assert.ok(walked <= 3 * count, `${walked} rows for ${count}`);
  });
}

test('sessions that expire at once are spread over commit batches, between which others have their turns', async () => {
  const actor = new Actor();
  await sendAll(actor, (i) => [
    'POST /v1/checkout/sessions',
    { body: { ...created, success_url: 'https://shop.test/' }, key: `${i}` },
  ]);
  const { log } = actor.journal;
  const append = log.append.bind(log);
  const expired: number[] = [];
  log.append = (batch) => {
    expired.push(batch.entries.length);
    return append(batch);
  };
  await pass(actor, dayMs + 1_000, 10);
  assert.equal(
    expired.reduce((sum, each) => sum + each, 0),
    count,
  );
  // With sixteen endpoints, 256 took the shard's thread 60 to 200 ms.
  assert.ok(Math.max(...expired) <= 64, expired.join());
});
