// A shard whose partition somebody else owns says nothing more, also where no append would refuse it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalFailure } from '../../src/journal/journal.ts';
import { requireHeld } from '../../src/journal/ownership.ts';
import { Actor, isOpen, settled } from './actor.ts';

const body = { amount: 12_000, currency: 'mad' };

/** A shard with one payment, which has lost its partition since. */
async function lost() {
  const actor = new Actor();
  const { json } = await actor.send('POST /v1/payment_intents', { key: 'kept', body });
  return { actor, id: json.id as string };
}

const unanswered = {
  query: (actor: Actor, id: string) => actor.send(`GET /v1/payment_intents/${id}`),
  list: (actor: Actor) => actor.send('GET /v1/payment_intents'),
  refusal: (actor: Actor) => actor.send('POST /v1/payment_intents', { body: { amount: -1 } }),
  replay: (actor: Actor) => actor.send('POST /v1/payment_intents', { key: 'kept', body }),
  command: (actor: Actor) => actor.send('POST /v1/payment_intents', { key: 'new', body }),
};

for (const [name, send] of Object.entries(unanswered))
  test(`a ${name} is not answered by a shard that has lost its partition`, async () => {
    const { actor, id } = await lost();
    actor.isHeld = false;
    const answer = send(actor, id);
    assert.equal(await isOpen(answer), true);
    assert(actor.failures[0] instanceof JournalFailure, String(actor.failures[0]));
    assert.equal(actor.failures[0].outcome, 'unknown');
  });

test('a read during a stall is not answered by a shard that has lost its partition', async () => {
  const { actor, id } = await lost();
  actor.holdDisk();
  const held = actor.send('POST /v1/payment_intents', { key: 'held', body });
  await settled();
  actor.elapsedMs += 300;
  actor.shard.tick();
  actor.isHeld = false;
  const read = actor.send(`GET /v1/payment_intents/${id}`);
  assert.equal(await isOpen(read), true);
  assert.equal(actor.failures.length, 1);
  await actor.releaseDisk();
  assert.equal(await isOpen(held), true);
});

for (const isHeld of [true, false])
  test(`a call to a payment network is ${isHeld ? '' : 'not '}made by a shard that ${isHeld ? 'owns' : 'has lost'} its partition`, async () => {
    const { actor, id } = await lost();
    actor.holdDisk();
    void actor.send(`POST /v1/payment_intents/${id}/confirm`, {
      key: 'confirm',
      body: { payment_method_type: 'card' },
    });
    await settled();
    actor.isHeld = isHeld;
    await actor.releaseDisk();
    assert.equal(actor.networkCalls.length, isHeld ? 1 : 0);
  });

test('whoever has lost a partition says what it was lost by, which decides whether it is taken again', () => {
  for (const outcome of ['fenced', 'unknown'] as const) {
    const failure = new JournalFailure('lost', { diskFull: false, outcome });
    const ownership = { epoch: 1, isHeld: () => false, lostBy: () => failure };
    assert.throws(
      () => requireHeld(ownership),
      (error) => error === failure,
    );
  }
});
