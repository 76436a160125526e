// Reads of a shard whose disk keeps a commit waiting: what is durable is told at once, what could
// still be lost is told when it can't be, and nothing is written meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cashIndex, kindIndex, scopeOf } from '../../src/domain/indexes.ts';
import { Actor, isOpen, org, settled } from './actor.ts';

const create = (actor: Actor, key: string, more: object = {}) =>
  actor.send('POST /v1/payment_intents', { key, body: { amount: 12_000, currency: 'mad', ...more } });

/** A shard with a payment and a customer on disk, and a payment that the disk keeps waiting. */
async function stalled() {
  const actor = new Actor();
  const kept = await create(actor, 'kept');
  const customer = await actor.send('POST /v1/customers', { body: { name: 'Amal' } });
  actor.holdDisk();
  const held = create(actor, 'held');
  await settled();
  actor.elapsedMs += 300;
  actor.shard.tick();
  return { actor, kept: kept.json.id as string, customer: customer.json.id as string, held };
}

test('a stall is told when it begins, while it goes on, and when it is over', async () => {
  const { actor } = await stalled();
  actor.elapsedMs += 100;
  actor.shard.tick();
  assert.deepEqual(actor.stalls, [300, 400]);
  assert.equal(actor.shard.oldestCommitMs, 400);
  await actor.releaseDisk();
  assert.deepEqual(actor.stalls, [300, 400, null]);
  assert.equal(actor.shard.oldestCommitMs, 0);
  actor.shard.tick();
  assert.equal(actor.stalls.length, 3);
});

test('what is on disk is read at once', async () => {
  const { actor, kept, customer } = await stalled();
  assert.equal((await actor.send(`GET /v1/payment_intents/${kept}`)).json.id, kept);
  assert.equal((await actor.send(`GET /v1/customers/${customer}`)).json.id, customer);
  assert.equal((await actor.send('GET /v1/customers')).json.data.length, 1);
  assert.equal((await actor.send('GET /v1/account')).status, 200);
  assert.equal((await actor.send(`GET /v1/payment_intents/pi_${'0'.repeat(30)}`)).status, 404);
  const view = await actor.ask({ kind: 'record', id: kept });
  assert.equal(view.ok, true);
  await actor.releaseDisk();
});

test('a list that what waits for the disk may belong to is told when it is on disk', async () => {
  const { actor, held } = await stalled();
  const lists = ['/v1/payment_intents', '/v1/payment_intents?status=succeeded', '/v1/events'].map((path) =>
    actor.send(`GET ${path}`),
  );
  for (const list of lists) assert.equal(await isOpen(list), true);
  await actor.releaseDisk();
  const [all, succeeded, events] = await Promise.all(lists);
  assert.equal(all!.json.data[0].id, (await held).json.id);
  assert.deepEqual(succeeded!.json.data, []);
  assert.equal(events!.json.data.length, 2);
});

test('what is asked beside requests is told when it is on disk, too, also by an index that names no scope', async () => {
  const { actor, kept, held } = await stalled();
  const [newest] = actor.shard.state.records.scan(kindIndex('payment_intent', scopeOf(org, false)), {
    descending: true,
  });
  const waiting = [
    actor.ask({ kind: 'record', id: newest!.id }),
    actor.ask({ kind: 'records', index: cashIndex('123456789'), limit: 1 }),
  ];
  const sound = [
    actor.ask({ kind: 'record', id: kept }),
    actor.ask({ kind: 'records', index: kindIndex('customer', scopeOf(org, false)), limit: 1 }),
  ];
  for (const asked of waiting) assert.equal(await isOpen(asked), true);
  for (const asked of sound) assert.equal(await isOpen(asked), false);
  await actor.releaseDisk();
  const [record, none] = await Promise.all(waiting);
  assert.equal(record!.ok && JSON.parse(record!.body).id, (await held).json.id);
  assert.deepEqual(none, { ok: true, body: '[]' });
});

test('an object that waits for the disk, or whose change does, is told when it is on disk', async () => {
  const actor = new Actor();
  const { id } = (await create(actor, 'kept')).json;
  const other = (await create(actor, 'other')).json.id;
  actor.holdDisk();
  const changed = actor.send(`POST /v1/payment_intents/${id}`, { body: { description: 'new' } });
  await settled();
  actor.elapsedMs += 300;
  actor.shard.tick();
  const read = actor.send(`GET /v1/payment_intents/${id}`);
  assert.equal(await isOpen(read), true);
  assert.equal((await actor.send(`GET /v1/payment_intents/${other}`)).json.id, other);
  await actor.releaseDisk();
  assert.equal((await read).json.description, 'new');
  assert.equal((await changed).status, 200);
});

test('a read that waits is told when a checkpoint has begun during the stall', async () => {
  const { actor, kept, held } = await stalled();
  assert.equal((await actor.send(`GET /v1/payment_intents/${kept}`)).status, 200);
  const checkpoint = actor.shard.checkpoint();
  const list = actor.send('GET /v1/payment_intents');
  assert.equal(await isOpen(list), true);
  await actor.releaseDisk();
  assert.equal((await held).status, 200);
  assert.equal(await isOpen(list), false, 'the list is never told');
  assert.equal((await list).json.data.length, 2);
  await checkpoint;
});

test('a read for which the open batch had no room before the stall is told during it', async () => {
  const actor = new Actor();
  await actor.recovered;
  actor.holdDisk();
  void create(actor, 'held');
  await settled();
  const reads = actor.sendTogether(...Array.from({ length: 513 }, () => ['GET /v1/account'] as const));
  await settled();
  assert.equal(actor.shard.queued, 1);
  actor.elapsedMs += 300;
  actor.shard.tick();
  await settled();
  assert.equal(actor.shard.queued, 0);
  await actor.releaseDisk();
  await reads;
});

test('a failed commit answers neither the write nor the read that saw it', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const written = create(actor, 'lost');
  await settled();
  actor.elapsedMs += 300;
  const read = actor.send('GET /v1/payment_intents');
  await settled();
  actor.failDisk();
  assert.deepEqual([await isOpen(written), await isOpen(read)], [true, true]);
  assert.equal(actor.failures.length, 1);
});

test('queries pass the writes that wait ahead of them, also those of the same batch, and no write runs', async () => {
  const { actor, kept } = await stalled();
  const waiting = create(actor, 'waiting');
  const [write, read] = [
    ['POST /v1/payment_intents', { key: 'together', body: { amount: 12_000, currency: 'mad' } }],
    [`GET /v1/payment_intents/${kept}`, {}],
  ] as const;
  const together = actor.sendTogether(write, read);
  await settled();
  assert.equal(actor.shard.queued, 2);
  assert.equal(await isOpen(together), true);
  assert.equal(await isOpen(waiting), true);
  const before = actor.journal.log.nextSequence;
  await actor.releaseDisk();
  assert.deepEqual(
    (await together).map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await waiting).status, 200);
  assert.equal(actor.journal.log.nextSequence, before + 2);
});

test('reads spend their limits during a stall as ever', async () => {
  const { actor, kept } = await stalled();
  const first = await actor.send(`GET /v1/payment_intents/${kept}`);
  const second = await actor.send(`GET /v1/payment_intents/${kept}`);
  assert.equal(first.remaining! - second.remaining!, 1);
  await actor.releaseDisk();
});
