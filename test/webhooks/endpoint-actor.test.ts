// One endpoint's actor by itself: what it keeps, and until when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DueDelivery } from '../../src/shard/protocol.ts';
import { EndpointActor } from '../../src/webhooks/endpoint-actor.ts';

const state = { org: 'org_1', url: 'https://a.test/', secrets: [], enabled: true };
const delivery = (id: string, first = false): DueDelivery => ({
  id,
  endpoint: 'we_1',
  number: 0,
  first,
  body: '{}',
});

function actorWith(...ids: string[]): EndpointActor {
  const actor = new EndpointActor('we_1', 0);
  actor.change(state);
  for (const id of ids) actor.take(delivery(id));
  return actor;
}

/** What it has to do, and whether it can be dropped. */
function stateOf({ queued, inFlight, isForgettable }: EndpointActor) {
  return [queued, inFlight, isForgettable];
}

test('a deleted endpoint can be forgotten once its last attempt is recorded, and takes nothing more', () => {
  const actor = actorWith('dl_1', 'dl_2');
  assert.deepEqual(stateOf(actor), [2, 0, false]);
  actor.start(0);
  actor.change(null);
  assert.deepEqual(stateOf(actor), [0, 1, false]);
  actor.ended(false);
  assert.deepEqual(stateOf(actor), [0, 0, false], 'the report of its attempt is not recorded');
  actor.release('dl_1');
  assert.deepEqual(stateOf(actor), [0, 0, true]);
  actor.take(delivery('dl_3'));
  assert.deepEqual(stateOf(actor), [0, 0, true]);
});

test('an endpoint with nothing to do is not forgotten while it exists', () => {
  assert.equal(actorWith().isForgettable, false);
});

test('an attempt that could not be made frees its place; of a deleted endpoint nothing is left of it', () => {
  const actor = actorWith('dl_1');
  const { delivery: started } = actor.start(0);
  actor.undone(started);
  assert.deepEqual(stateOf(actor), [1, 0, false]);
  actor.start(0);
  actor.change(null);
  actor.undone(started);
  assert.deepEqual(stateOf(actor), [0, 0, true]);
});

test('it starts nothing beyond the limit, without a delivery, or while it is disabled', () => {
  const actor = actorWith('dl_1', 'dl_2');
  assert.equal(actor.canStart(1), true);
  actor.start(0);
  assert.deepEqual([actor.canStart(1), actor.canStart(2)], [false, true]);
  actor.change({ ...state, enabled: false });
  assert.equal(actor.canStart(2), false);
  actor.change(state);
  actor.start(0);
  assert.equal(actor.canStart(3), false);
});

test('a disabled endpoint drops what waits; what is in flight is not taken again when it is enabled', () => {
  const actor = actorWith('dl_1', 'dl_2', 'dl_3');
  actor.start(0);
  actor.start(0);
  actor.take({ ...delivery('dl_1'), number: 1 });
  actor.change({ ...state, enabled: false });
  actor.take(delivery('dl_4'));
  assert.deepEqual(stateOf(actor), [0, 2, false]);
  actor.undone(delivery('dl_2'));
  assert.deepEqual(stateOf(actor), [0, 1, false], 'an attempt that could not be made waits no more');
  actor.change(state);
  for (const id of ['dl_1', 'dl_2', 'dl_3']) actor.take(delivery(id));
  assert.deepEqual(stateOf(actor), [2, 1, false]);
  actor.ended(false);
  actor.release('dl_1');
  assert.deepEqual(stateOf(actor), [2, 0, false]);
});

test('a new address or a disabled endpoint ends the way to the old address, an equal state does not', () => {
  const changes = [
    [state, false],
    [{ ...state, url: 'https://b.test/' }, true],
    [{ ...state, enabled: false }, true],
    [null, true],
  ] as const;
  for (const [to, isLeft] of changes) assert.equal(actorWith().change(to), isLeft);
  assert.equal(new EndpointActor('we_1', 0).change(state), false, 'it went nowhere before');
});

test('the secrets of an attempt are those that have not ended when it starts', () => {
  const actor = actorWith('dl_1');
  const secrets = [null, 1_001, 1_000, 999].map((expires_at_ms) => ({
    sealed: String(expires_at_ms),
    expires_at_ms,
  }));
  actor.change({ ...state, secrets });
  assert.deepEqual(actor.start(1_000).sealed, ['null', '1001']);
});

test('a later attempt of a delivery waits until the one before is recorded', () => {
  const actor = actorWith('dl_1');
  actor.start(0);
  // The shard has run elsewhere, where the first attempt was made, too, and failed.
  actor.take({ ...delivery('dl_1'), number: 1 });
  actor.take(delivery('dl_1'));
  assert.deepEqual(stateOf(actor), [0, 1, false]);
  actor.ended(false);
  actor.release('dl_1');
  assert.deepEqual(stateOf(actor), [1, 0, false]);
  assert.equal(actor.start(0).delivery.number, 1);
  actor.ended(false);
  actor.release('dl_1');
  assert.deepEqual(stateOf(actor), [0, 0, false]);
});

test('a later attempt takes the place of one that waits', () => {
  const actor = actorWith('dl_1', 'dl_2');
  actor.take({ ...delivery('dl_1'), number: 1 });
  assert.deepEqual(
    [actor.start(0), actor.start(0)].map(({ delivery: { id, number } }) => [id, number]),
    [
      ['dl_2', 0],
      ['dl_1', 1],
    ],
  );
});

test('a later attempt of a deleted endpoint is not made', () => {
  const actor = actorWith('dl_1');
  actor.start(0);
  actor.take({ ...delivery('dl_1'), number: 1 });
  actor.change(null);
  actor.ended(false);
  actor.release('dl_1');
  assert.deepEqual(stateOf(actor), [0, 0, true]);
});
