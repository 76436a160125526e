// A shard as its peers see it: answers wait for the disk, in order; nothing is answered after a
// failed write; a shard with a full disk answers reads; and a restart loses nothing that was
// answered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueKey } from '../../src/domain/due.ts';
import { dueIndex } from '../../src/domain/indexes.ts';
import { matchRoute } from '../../src/edge/http/router.ts';
import { replayOf } from '../journal/journal-fixtures.ts';
import { Actor, account, damage, isOpen, org, settled, startMs } from './actor.ts';

const create = 'POST /v1/payment_intents';
const intent = { amount: 12_000, currency: 'mad' };

test('an answer waits until what it shows is on disk', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const answer = actor.send(create, { body: intent, key: 'a' });
  assert.equal(await isOpen(answer), true);
  await actor.releaseDisk();
  assert.equal((await answer).status, 200);
});

test('a read of what is not on disk yet waits for it', async () => {
  const actor = new Actor();
  const before = await actor.send(create, { body: intent, key: 'a' });
  actor.holdDisk();
  const written = actor.send(create, { body: intent, key: 'b' });
  await settled();
  const list = actor.send('GET /v1/payment_intents');
  const other = actor.send(`GET /v1/payment_intents/${before.json.id}`);
  assert.equal(await isOpen(list), true);
  assert.equal(await isOpen(other), true);
  await actor.releaseDisk();
  const ids = (await list).json.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids, [(await written).json.id, before.json.id]);
});

test('a read that nothing is written before is answered without the disk', async () => {
  const actor = new Actor();
  actor.holdDisk();
  assert.equal((await actor.send('GET /v1/account')).json.id, org);
});

test('while a batch is being written, what comes is executed at its own time and written as one batch afterwards', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const answers = [];
  for (let i = 0; i < 5; i++) {
    answers.push(actor.send(create, { body: intent, key: `k${i}` }));
    await settled();
    actor.clock.advance(1_000);
  }
  assert.equal(actor.shard.queued, 0);
  assert.deepEqual(actor.batches, [1]);
  await actor.releaseDisk();
  const intents = (await Promise.all(answers)).map(({ json }) => json);
  const ids = intents.map(({ id }) => id);
  assert.deepEqual(ids, [...ids].sort());
  const seconds = intents.map(({ created }) => created - startMs / 1_000);
  assert.deepEqual(seconds, [0, 1, 2, 3, 4]);
  assert.deepEqual(actor.batches, [1, 4]);
});

test('a request that is withdrawn before it was taken is answered, and does not run', async () => {
  const actor = new Actor();
  await actor.recovered;
  const kept = actor.send(create, { body: intent, key: 'a' });
  const withdrawn = actor.send(create, { body: intent, key: 'b' });
  actor.withdraw();
  const after = actor.send(create, { body: intent, key: 'c' });
  const ids = [(await after).json.id, (await kept).json.id];
  assert.equal((await withdrawn).text, '');
  const list = await actor.send('GET /v1/payment_intents');
  assert.deepEqual(
    list.json.data.map(({ id }: { id: string }) => id),
    ids,
  );
  const again = await actor.send(create, { body: intent, key: 'b' });
  assert.deepEqual([again.status, again.replayed], [200, false]);
});

test('a shard that has stopped takes nothing more, and stops once', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body: intent, key: 'a' });
  await actor.shard.stop();
  const { length } = actor.checkpoints;
  const late = actor.send(create, { body: intent, key: 'b' });
  await actor.shard.stop();
  assert.equal(await isOpen(late), true);
  assert.deepEqual([actor.failures, actor.checkpoints.length], [[], length]);
  await actor.restart();
  const list = await actor.send('GET /v1/payment_intents');
  assert.deepEqual(
    list.json.data.map(({ id }: { id: string }) => id),
    [first.json.id],
  );
});

test('a checkpoint that begins while a batch is open has what that batch has changed', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const first = actor.send(create, { body: intent, key: 'a' });
  await settled();
  const second = actor.send(create, { body: intent, key: 'b' });
  await settled();
  const checkpoint = actor.shard.checkpoint();
  await actor.releaseDisk();
  await checkpoint;
  const list = await actor.send('GET /v1/payment_intents');
  const ids = list.json.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids, [(await second).json.id, (await first).json.id]);
});

test('the batch that a checkpoint ends does not begin another one, however much it has changed', async () => {
  const measured = new Actor();
  await measured.send(create, { body: intent, key: 'a' });
  const actor = new Actor({ memory: { checkpointBytes: measured.shard.state.records.memtableBytes + 1 } });
  actor.holdDisk();
  const first = actor.send(create, { body: intent, key: 'a' });
  await settled();
  const second = actor.send(create, { body: intent, key: 'b' });
  await settled();
  const checkpoint = actor.shard.checkpoint();
  await actor.releaseDisk();
  await checkpoint;
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.deepEqual(actor.failures, []);
});

test('a failed append answers nothing of its batch or after it, and is reported once', async () => {
  const actor = new Actor();
  const kept = await actor.send(create, { body: intent, key: 'a' });
  actor.journal.failNextAppend();
  const lost = actor.send(create, { body: intent, key: 'b' });
  const read = actor.send('GET /v1/account');
  await settled();
  const late = actor.send('GET /v1/account');
  assert.equal(await isOpen(Promise.race([lost, read, late])), true);
  assert.equal(actor.failures.length, 1);

  await actor.restart();
  const list = await actor.send('GET /v1/payment_intents');
  assert.deepEqual(
    list.json.data.map(({ id }: { id: string }) => id),
    [kept.json.id],
  );
  const again = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(again.replayed, false);
});

test('a batch on top of one that fails is answered neither', async () => {
  const actor = new Actor();
  actor.holdDisk();
  actor.journal.failNextAppend();
  const first = actor.send(create, { body: intent, key: 'a' });
  await settled();
  const second = actor.send('GET /v1/payment_intents');
  await actor.releaseDisk();
  assert.equal(await isOpen(Promise.race([first, second])), true);
  assert.equal(actor.failures.length, 1);
});

test('an organization that the shard does not know ends it: it must not guess', async () => {
  const actor = new Actor();
  await actor.restart({ ...account, id: 'org_000000000000000000000002' });
  const answer = actor.send('GET /v1/account');
  assert.equal(await isOpen(answer), true);
  assert.match(String(actor.failures[0]), /not known to this shard/);
});

// Memory.

test('what no checkpoint holds yet is bounded: writes are refused until one is written, reads and replays are not', async () => {
  const actor = new Actor({ memory: { checkpointBytes: 1, unwrittenBytesMax: 1 } });
  actor.holdDisk();
  const kept = actor.send(create, { body: intent, key: 'a' });
  await settled();
  const refused = actor.send(create, { body: intent, key: 'b' });
  await settled();
  assert.deepEqual(actor.checkpoints, [], 'the one that has begun waits for the disk');
  await actor.releaseDisk();
  const { status, json, retryAfterSeconds } = await refused;
  assert.deepEqual([status, json.error.code, retryAfterSeconds], [503, 'api_error', 1]);
  assert.equal((await kept).status, 200);
  assert.deepEqual(actor.checkpoints, [2], 'an intent and its event');
  const again = await actor.send(create, { body: intent, key: 'b' });
  assert.deepEqual([again.status, again.replayed], [200, false]);
  assert.equal((await actor.send(create, { body: intent, key: 'a' })).replayed, true);
});

test('a batch takes no more than fits: what is left in the mailbox has the next one', async () => {
  const actor = new Actor({ memory: { batchBytesMax: 10_000 } });
  const large = { ...intent, metadata: { note: 'x'.repeat(500) } };
  const sent = Array.from({ length: 100 }, (_, i) => [create, { body: large, key: `k${i}` }] as const);
  const answers = await actor.sendTogether(...sent);
  assert.ok(answers.every(({ status }) => status === 200));
  const [least, most] = [Math.min(...actor.batches), Math.max(...actor.batches)];
  assert.ok(least > 0 && most < 20, `batches of ${least} to ${most} requests`);
  assert.equal(
    actor.batches.reduce((sum, taken) => sum + taken),
    100,
  );
});

test('a batch has 512 requests at most, and bodies that come to no more than fits, whatever becomes of them', async () => {
  const many = new Actor();
  await many.sendTogether(...Array.from({ length: 600 }, () => ['GET /v1/account'] as const));
  assert.deepEqual(many.batches, [512, 88]);
  // The rest does not wait in the mailbox until the first batch is on disk.
  many.holdDisk();
  const written = many.sendTogether(
    ...Array.from({ length: 600 }, (_, i) => [create, { body: intent, key: `k${i}` }] as const),
  );
  await settled();
  assert.equal(many.shard.queued, 0);
  await many.releaseDisk();
  await written;
  const actor = new Actor({ memory: { batchBytesMax: 100_000 } });
  const refused = { note: 'x'.repeat(30_000) };
  const sent = Array.from({ length: 8 }, (_, i) => [create, { body: refused, key: `k${i}` }] as const);
  const answers = await actor.sendTogether(...sent);
  assert.deepEqual(new Set(answers.map(({ json }) => json.error.code)), new Set(['parameter_unknown']));
  assert.deepEqual(actor.batches, [4, 4]);
});

test('how long commits and checkpoints take is told in seconds; what changes nothing commits nothing', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const answer = actor.send(create, { body: intent, key: 'a' });
  await settled();
  actor.elapsedMs += 250;
  await actor.releaseDisk();
  await answer;
  await actor.send('GET /v1/payment_intents');
  assert.deepEqual(actor.commitSeconds, [0.25]);
  const { checkpointer } = actor.journal;
  const write = checkpointer.write.bind(checkpointer);
  checkpointer.write = (sequence) => {
    actor.elapsedMs += 1_500;
    return write(sequence);
  };
  await actor.shard.checkpoint();
  assert.deepEqual(actor.checkpointSeconds, [1.5]);
});

// A full disk.

test('read-only: writes are refused and may be tried again, reads and replays are answered', async () => {
  const actor = new Actor();
  const kept = await actor.send(create, { body: intent, key: 'a' });
  actor.shard.state.setReadOnly(true);
  const refused = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(refused.status, 503);
  assert.equal(refused.json.error.code, 'api_error');
  assert.equal(refused.retryAfterSeconds, 1);
  assert.equal((await actor.send(`GET /v1/payment_intents/${kept.json.id}`)).status, 200);
  const replayed = await actor.send(create, { body: intent, key: 'a' });
  assert.equal(replayed.replayed, true);
  assert.equal(replayed.text, kept.text);
  actor.shard.state.setReadOnly(false);
  const again = await actor.send(create, { body: intent, key: 'b' });
  assert.deepEqual([again.status, again.replayed], [200, false]);
});

test('read-only: what a network says is refused, to be said again, and whoever waits for it goes on waiting', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: intent, key: 'a' });
  const confirmed = actor.send(`POST /v1/payment_intents/${json.id}/confirm`, { key: 'b' });
  await settled();
  actor.shard.state.setReadOnly(true);
  const refused = await actor.settle({ result: 'done' });
  assert.equal(!refused.ok && refused.code, 'api_error');
  assert.equal(await isOpen(confirmed), true);
  actor.shard.state.setReadOnly(false);
  await actor.settle({ result: 'done' });
  assert.equal((await confirmed).json.status, 'requires_action');
});

test('read-only: nothing expires, and nothing is lost by it', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: intent, key: 'a' });
  const confirmed = actor.send(`POST /v1/payment_intents/${json.id}/confirm`, { key: 'b' });
  await settled();
  await actor.settle({ result: 'done' });
  await confirmed;
  const status = async () => (await actor.send(`GET /v1/payment_intents/${json.id}`)).json.status;
  actor.shard.state.setReadOnly(true);
  actor.clock.advance(3_600_000);
  actor.shard.tick();
  await settled();
  assert.equal(await status(), 'requires_action');
  // The disk is full just when it would have expired.
  actor.shard.state.setReadOnly(false);
  actor.shard.tick();
  actor.shard.state.setReadOnly(true);
  await settled();
  assert.equal(await status(), 'requires_action');
  actor.shard.state.setReadOnly(false);
  actor.shard.tick();
  await settled();
  assert.equal(await status(), 'requires_payment_method');
});

test('all that is due at once expires, although more is unwritten then than the shard may have', async () => {
  const actor = new Actor({ memory: { unwrittenBytesMax: 1 } });
  const body = { ...intent, success_url: 'https://shop.example' };
  const ids: string[] = [];
  for (const key of ['a', 'b']) {
    ids.push((await actor.send('POST /v1/checkout/sessions', { body, key })).json.id);
    await actor.shard.checkpoint();
  }
  actor.clock.advance(30 * 3_600_000);
  actor.shard.tick();
  await settled();
  for (const id of ids)
    assert.equal((await actor.send(`GET /v1/checkout/sessions/${id}`)).json.status, 'expired');
});

// Damage.

test('a session whose payment is damaged does not expire, and keeps no other from it', async () => {
  const actor = new Actor();
  const body = { ...intent, success_url: 'https://shop.example' };
  const open = async (key: string) => (await actor.send('POST /v1/checkout/sessions', { body, key })).json;
  const [damaged, sound] = [await open('a'), await open('b')];
  await actor.shard.checkpoint();
  await actor.restart();
  damage(actor.journal, damaged.payment_intent);
  for (let hours = 0; hours < 30; hours++) {
    actor.clock.advance(3_600_000);
    actor.shard.tick();
    await settled();
  }
  const statusOf = async ({ id }: { id: string }) =>
    (await actor.send(`GET /v1/checkout/sessions/${id}`)).json;
  assert.equal((await statusOf(sound)).status, 'expired');
  assert.notEqual((await statusOf(damaged)).status, 'expired');
  assert.deepEqual(actor.failures, []);
  const { records, tasks } = actor.shard.state;
  const isLeft = ({ id }: { id: string }) =>
    tasks.has(dueIndex, dueKey(records.get('checkout_session', id)!));
  assert.deepEqual([isLeft(damaged), isLeft(sound)], [true, false]);
});

test('a refund is refused while what the network would be told of it is damaged', async () => {
  const actor = new Actor();
  const { intent, charge } = await actor.paidByCard('p');
  await actor.shard.checkpoint();
  await actor.restart();
  const mend = damage(actor.journal, intent);
  const refund = () => actor.send('POST /v1/refunds', { body: { charge }, key: 'r' });
  const refused = await refund();
  assert.deepEqual([refused.status, refused.json.error.code], [500, 'api_error']);
  assert.deepEqual([actor.networkCalls, actor.failures], [[], []]);
  mend();
  assert.equal((await refund()).status, 200);
});

test('the outcome of a network call is told to be refused while its payment is damaged, and is applied later', async () => {
  const actor = new Actor();
  const { id } = (await actor.send(create, { body: intent, key: 'a' })).json;
  void actor.send(`POST /v1/payment_intents/${id}/confirm`, { key: 'b' });
  await settled();
  const call = actor.networkCalls.at(-1)!.id;
  await actor.shard.checkpoint();
  await actor.restart();
  const mend = damage(actor.journal, id);
  assert.equal((await actor.settle({ result: 'done' }, call)).ok, false);
  mend();
  assert.equal((await actor.settle({ result: 'done' }, call)).ok, true);
  assert.equal((await actor.send(`GET /v1/payment_intents/${id}`)).json.status, 'requires_action');
  assert.deepEqual(actor.failures, []);
});

// Restarts and time.

test('everything that was answered is there after a restart, with a checkpoint and without', async () => {
  const actor = new Actor();
  const ids: string[] = [];
  for (const key of ['a', 'b', 'c']) {
    ids.unshift((await actor.send(create, { body: intent, key })).json.id);
    if (key === 'b') await actor.shard.checkpoint();
    await actor.restart();
    const list = await actor.send('GET /v1/payment_intents');
    assert.deepEqual(
      list.json.data.map(({ id }: { id: string }) => id),
      ids,
    );
  }
});

test('ids ascend over a restart with the clock set back', async () => {
  const actor = new Actor();
  const before = await actor.send(create, { body: intent, key: 'a' });
  actor.clock.set(startMs - 3_600_000);
  await actor.restart();
  const after = await actor.send(create, { body: intent, key: 'b' });
  assert.ok(after.json.id > before.json.id);
});

test('what was made after the clock was set back is found by its time, also after restarts', async () => {
  const actor = new Actor();
  await actor.send(create, { body: intent, key: 'a' });
  actor.clock.set(startMs - 3_600_000);
  await actor.restart();
  const { json } = await actor.send(create, { body: intent, key: 'b' });
  const range = `created[gte]=${json.created}&created[lte]=${json.created}`;
  for (const isWritten of [false, true]) {
    if (isWritten) await actor.shard.checkpoint();
    await actor.restart();
    const list = await actor.send(`GET /v1/payment_intents?${range}`);
    assert.deepEqual(
      list.json.data.map(({ id }: { id: string }) => id),
      [json.id],
    );
    actor.clock.advance(1_000_000);
  }
});

test('ids ascend over a restart after a batch that made more of them than a millisecond holds', async () => {
  const actor = new Actor();
  const together = Array.from({ length: 5_000 }, (_, i) => [create, { body: intent, key: `k${i}` }] as const);
  const before = await actor.sendTogether(...together);
  const newest = before
    .map(({ json }) => json.id as string)
    .sort()
    .at(-1)!;
  await actor.restart();
  const after = await actor.send(create, { body: intent, key: 'b' });
  assert.ok(after.json.id > newest);
});

test('a checkpoint is written when its time has come and something changed, a kept refusal included', async () => {
  const actor = new Actor();
  await actor.recovered;
  const tickAfter = async (ms: number) => {
    actor.clock.advance(ms);
    actor.shard.tick();
    await settled();
  };
  await tickAfter(9_000);
  assert.deepEqual(actor.checkpoints, []);
  await actor.send(create, { body: intent, key: 'a' });
  await tickAfter(999);
  assert.deepEqual(actor.checkpoints, []);
  await tickAfter(1);
  // The intent and its event.
  assert.deepEqual(actor.checkpoints, [2]);
  await actor.send(create, { body: { ...intent, amount: 1 }, key: 'b' });
  await tickAfter(9_999);
  assert.deepEqual(actor.checkpoints, [2]);
  await tickAfter(1);
  assert.deepEqual(actor.checkpoints, [2, 0]);
  await tickAfter(60_000);
  assert.deepEqual(actor.checkpoints, [2, 0]);
});

test('an idle shard looks at the time once a second and reads nothing; it is there when something is due', async () => {
  const actor = new Actor();
  const { checkpoint } = actor.journal;
  const scan = checkpoint.scan.bind(checkpoint);
  let scans = 0;
  checkpoint.scan = (...range) => {
    scans++;
    return scan(...range);
  };
  const tickAfter = async (ms: number) => {
    actor.clock.advance(ms);
    const nextMs = actor.shard.tick();
    await settled();
    return nextMs;
  };
  await tickAfter(0);
  const expires_at = actor.clock.now() / 1000 + 1_800;
  const body = { ...intent, success_url: 'https://shop.example', expires_at };
  const { json } = await actor.send('POST /v1/checkout/sessions', { body, key: 'a' });
  assert.equal(await tickAfter(100), 100, 'a request came');
  assert.equal(await tickAfter(100), 1_000);
  assert.equal(await tickAfter(9_300), 500, 'the checkpoint');
  await tickAfter(500);
  scans = 0;
  for (let seconds = 0; seconds < 1_789; seconds++) assert.equal(await tickAfter(1_000), 1_000);
  assert.equal(scans, 0);
  assert.equal(await tickAfter(800), 200, 'the session');
  await tickAfter(200);
  const { status } = (await actor.send(`GET /v1/checkout/sessions/${json.id}`)).json;
  assert.equal(status, 'expired');
});

test('rate limits and the day go on after a restart from where they were written', async () => {
  const few = { perMinute: 6, source: 'custom', untilMs: null } as const;
  const limits = { ...account.limits.test, buckets: { ...account.limits.test.buckets, writes: few } };
  const known = { ...account, limits: { test: limits, live: limits } };
  const actor = new Actor();
  await actor.restart(known);
  for (let i = 0; i < 5; i++) await actor.send('POST /v1/customers');
  await actor.shard.writeMetadata();
  await actor.restart(known);
  assert.equal((await actor.send('POST /v1/customers')).remaining, 1);
});

test('limits that change count at once, in both modes, for who has sent requests before', async () => {
  const actor = new Actor();
  const few = { perMinute: 6, source: 'custom', untilMs: null } as const;
  const limitsOf = (mode: 'test' | 'live') => ({
    ...account.limits[mode],
    buckets: { ...account.limits[mode].buckets, writes: few },
  });
  const send = (livemode: boolean) => actor.send('POST /v1/customers', { livemode });
  for (const livemode of [false, true]) assert.equal((await send(livemode)).status, 200);
  actor.shard.putAccount({ ...account, limits: { test: limitsOf('test'), live: limitsOf('live') } });
  for (const livemode of [false, true]) assert.ok((await send(livemode)).remaining! < 7, String(livemode));
});

test('the time is stored once a minute while nothing happens, and with every change of what is counted', async () => {
  const actor = new Actor();
  const { checkpointer } = actor.journal;
  const put = checkpointer.putMetadata.bind(checkpointer);
  let stored = 0;
  checkpointer.putMetadata = (values) => {
    stored++;
    return put(values);
  };
  const after = async (ms: number) => {
    actor.clock.advance(ms);
    await actor.shard.writeMetadata();
    return stored;
  };
  await actor.recovered;
  const first = await after(0);
  assert.equal(await after(59_999), first);
  assert.equal(await after(1), first + 1);
  assert.equal(await after(59_999), first + 1);
  await actor.send('POST /v1/customers');
  assert.equal(await after(0), first + 2);
  assert.equal(await after(59_999), first + 2);
  actor.shard.state.setReadOnly(true);
  assert.equal(await after(60_000), first + 2, 'not on a full disk');
});

test('a shard that is stopped waits for the disk, stores what it has counted, and closes its journal', async () => {
  const few = { perMinute: 6, source: 'custom', untilMs: null } as const;
  const limits = { ...account.limits.test, buckets: { ...account.limits.test.buckets, writes: few } };
  const known = { ...account, limits: { test: limits, live: limits } };
  const actor = new Actor({ account: known });
  for (let i = 0; i < 4; i++) await actor.send('POST /v1/customers');
  actor.holdDisk();
  const last = actor.send('POST /v1/customers');
  await settled();
  let isStopped = false;
  const stopped = actor.shard.stop().then(() => {
    isStopped = true;
  });
  await settled();
  assert.deepEqual([isStopped, await isOpen(last)], [false, true]);
  await actor.releaseDisk();
  await stopped;
  assert.equal((await last).status, 200);
  const batch = { firstSequence: actor.journal.log.nextSequence, timeMs: 0, wallMs: 0, entries: [] };
  await assert.rejects(async () => actor.journal.log.append(batch).durable);
  await actor.restart(known);
  assert.equal((await actor.send('POST /v1/customers')).remaining, 1);
});

test('a shard that is stopped does one thing after the other: the checkpoint that runs, its own, the counts, the end', async () => {
  const actor = new Actor();
  await actor.recovered;
  const { checkpointer } = actor.journal;
  const steps: string[] = [];
  const slowly =
    <A extends unknown[], R>(name: string, run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      steps.push(`${name} begins`);
      await settled();
      const result = await run(...args);
      steps.push(`${name} ends`);
      return result;
    };
  checkpointer.write = slowly('write', checkpointer.write.bind(checkpointer));
  checkpointer.putMetadata = slowly('metadata', checkpointer.putMetadata.bind(checkpointer));
  checkpointer.drop = slowly('drop', checkpointer.drop.bind(checkpointer));
  actor.journal.close = slowly('close', actor.journal.close.bind(actor.journal));
  const running = actor.shard.checkpoint();
  await actor.send('POST /v1/customers');
  await Promise.all([running, actor.shard.stop()]);
  const checkpoint = ['metadata', 'write', 'drop'];
  const expected = [...checkpoint, ...checkpoint, 'metadata', 'close'];
  assert.deepEqual(
    steps,
    expected.flatMap((step) => [`${step} begins`, `${step} ends`]),
  );
});

test('a stopped shard has answered everything and left nothing in the log alone', async () => {
  const actor = new Actor();
  const answers = Array.from({ length: 50 }, (_, i) => actor.send(create, { body: intent, key: `k${i}` }));
  await actor.shard.stop();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200]));
  const reopened = actor.journal.reopen();
  assert.equal((await replayOf(reopened)).length, 0);
  assert.equal(reopened.checkpoint.sequence, 50);
  const other = new Actor();
  await other.recovered;
  const single = other.send(create, { body: intent, key: 'a' });
  await other.shard.stop();
  assert.equal(await isOpen(single), false);
});

// Internal requests.

test('an export is admitted with its limits, and its pages come one by one', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body: intent, key: 'a' });
  const admitted = await actor.send('GET /v1/exports/payment_intents?format=ndjson');
  assert.deepEqual([admitted.status, admitted.text], [200, '']);
  const { route } = matchRoute('GET', '/v1/exports/payment_intents')!;
  const page = await actor.ask({
    kind: 'export_page',
    route,
    org,
    livemode: false,
    query: 'format=ndjson',
    cursor: '',
  });
  assert.ok(page.ok);
  assert.equal(page.cursor, null);
  assert.equal(JSON.parse(page.body).id, first.json.id);
});

test('an internal request about nothing is refused, and leaves room to what comes with it', async () => {
  const actor = new Actor();
  await actor.recovered;
  const together = ['x', 'y', 'z'].map((id) => actor.ask({ kind: 'record', id }));
  await Promise.all(together);
  assert.deepEqual(actor.batches, [3]);
  for (const id of ['', 'x', 'pi_1', 'op_1', 'cs_1', '__proto___1']) {
    const answer = await actor.ask({ kind: 'record', id });
    assert.deepEqual([answer.ok, !answer.ok && answer.code], [false, 'resource_missing'], id);
  }
  const view = await actor.ask({ kind: 'view_payment', id: 'cs_1' });
  assert.equal(view.ok, false);
});

test('a batch runs when the scheduler says so: until then mail waits, and all of it is one batch', async () => {
  const actor = new Actor();
  const soon: (() => void)[] = [];
  actor.soon = (action) => soon.push(action);
  const first = actor.send(create, { body: intent, key: 'a' });
  const second = actor.send(create, { body: intent, key: 'b' });
  await settled();
  assert.deepEqual([actor.shard.queued, soon.length], [2, 1]);
  soon.shift()!();
  assert.equal(actor.shard.queued, 0);
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.equal(soon.length, 0, 'with nothing to do it wants to run no more');
});
