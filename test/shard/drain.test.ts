// A shard that stops while its log does not answer: a disk is waited for, and other machines only for a while.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemScheduler } from '../../src/core/scheduler.ts';
import { drain } from '../../src/shard/drain.ts';
import { createManualTimers } from '../networks/manual-timers.ts';
import { Actor, isOpen, settled, startMs } from './actor.ts';

const patienceMs = 500;
const write = 'POST /v1/payment_intents';
const sent = { key: 'late', body: { amount: 12_000, currency: 'mad' } };

/** A shard with a write that waits, and another one behind it, and its stop. */
async function stopping(isShared: boolean) {
  const timers = createManualTimers(startMs);
  const actor = new Actor({ isShared, timers });
  await actor.send('POST /v1/customers');
  actor.holdDisk();
  const late = actor.send(write, sent);
  await settled();
  const queued = actor.send('POST /v1/customers');
  const stopped = actor.shard.stop();
  await settled();
  return { timers, actor, answers: Promise.race([late, queued]), stopped };
}

/** Whether the journal is closed. */
async function isClosed({ journal: { log } }: Actor): Promise<boolean> {
  const batch = { firstSequence: log.nextSequence, timeMs: 0, wallMs: 0, entries: [] };
  return (async () => log.append(batch).durable)().then(
    () => false,
    () => true,
  );
}

test('other machines that leave a commit without an answer are given up: nothing is answered or checkpointed', async () => {
  const { timers, actor, answers, stopped } = await stopping(true);
  await timers.advance(patienceMs - 1);
  assert.equal(await isOpen(stopped), true);
  await timers.advance(1);
  assert.equal(await stopped, false);
  await actor.releaseDisk();
  assert.equal(await isOpen(answers), true);
  assert.deepEqual([actor.checkpoints, actor.failures], [[], []]);
  assert.equal(await isClosed(actor), true);
});

test('other machines that go on slowly are waited for: the time is that of a commit', async () => {
  const timers = createManualTimers(startMs);
  const commits = [1, 2, 3].map(() => Promise.withResolvers<void>());
  let written = 0;
  const drained = drain({
    ownership: { epoch: 1, isHeld: () => true, confirm: async () => {} },
    scheduler: systemScheduler,
    timers,
    isBusy: () => written < commits.length,
    durable: () => commits[written]!.promise,
  });
  for (const { resolve } of commits) {
    await timers.advance(patienceMs - 1);
    written++;
    resolve();
    await settled();
  }
  assert.equal(await drained, true);
});

test('what reached them all the same counts after the next start', async () => {
  const { timers, actor, stopped } = await stopping(true);
  await timers.advance(patienceMs);
  await stopped;
  await actor.restart();
  assert.equal((await actor.send(write, sent)).replayed, true);
});

test('a commit that waits when they are given up, and fails then, is no failure of the shard', async () => {
  const { timers, actor, stopped } = await stopping(true);
  const checkpoint = actor.shard.checkpoint();
  checkpoint.catch(() => {});
  await timers.advance(patienceMs);
  assert.equal(await stopped, false);
  actor.failDisk();
  await assert.rejects(checkpoint);
  assert.deepEqual(actor.failures, []);
});

for (const isShared of [true, false])
  test(`${isShared ? 'other machines that answer in time leave' : 'a disk leaves, however long it takes,'} nothing unfinished`, async () => {
    const { timers, actor, answers, stopped } = await stopping(isShared);
    await timers.advance(isShared ? patienceMs - 1 : 600_000);
    assert.equal(await isOpen(stopped), true);
    await actor.releaseDisk();
    assert.equal(await stopped, true);
    assert.equal((await answers).status, 200);
    assert.equal(actor.checkpoints.length, 1);
    assert.equal(timers.waiting(), 0);
    assert.equal(await isClosed(actor), true);
  });
