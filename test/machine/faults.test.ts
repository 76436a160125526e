// The service on a machine that fails, while merchants use it: power cuts, syncs that take long, wrong clocks, bits that flip
// (write-errors.test.ts has what a disk refuses). Nothing acknowledged is lost, nothing runs twice, and what went wrong is told with its place.
// MACHINE_FAULT_ROUNDS asks for more rounds, and MACHINE_FAULT_SEED for those of a seed that a test has told.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import '../on-disk.ts';
import { type DataFolder, lookAtDataFolder } from '../../src/data-folder/data-folder.ts';
import { checkpointSequenceIn } from '../../src/journal/checkpoint/checkpoint-reader.ts';
import { isDefect, LogReader } from '../../src/journal/log-reader.ts';
import { foldersOfJournal } from '../../src/journal/open-journal.ts';
import { crampedEnv, hurriedRestMs, Merchant } from '../main/merchant.ts';
import { shopOnEachShard } from '../main/shops.ts';
import { type Service, withRequestLogs } from '../service.ts';
import { FaultyMachine } from './faulty-machine.ts';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from './merchants.ts';

const env = { ...crampedEnv, ...withRequestLogs };
const rounds = Number(process.env.MACHINE_FAULT_ROUNDS ?? 1);
const firstSeed = Number(process.env.MACHINE_FAULT_SEED ?? Math.floor(Math.random() * 1e6));

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The machine; null, and the test is skipped, where it can't be built. */
function machineFor(context: TestContext): FaultyMachine | null {
  const machine = FaultyMachine.make();
  if (machine === null) context.skip('needs Linux and a C compiler (cc)');
  return machine;
}

/** Settles when the service has ended. */
function endOf({ process: child }: Service): Promise<unknown> {
  child.ref();
  return once(child, 'exit');
}

test('power cuts at any write or sync lose nothing that was acknowledged', async (context) => {
  const machine = machineFor(context);
  if (machine === null) return;
  let service = await machine.start(env);
  const merchants = await merchantsOn(context, service);
  const lost: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const seed = firstSeed + round;
    const random = randomOf(seed);
    startWork(service, merchants, hurriedRestMs);
    await progress(service, merchants, 10 + Math.floor(random() * 60));
    const exited = endOf(service);
    const place = ['/log/', '/state/', 'shard-0', 'shard-1/log'][Math.floor(random() * 4)]!;
    const on = (['write', 'sync', 'synced'] as const)[Math.floor(random() * 3)]!;
    machine.faults({ on, place, action: 'kill', skip: Math.floor(random() * 30) });
    await Promise.race([exited, wait(5_000)]);
    await service.kill();
    await pauseAll(merchants);
    machine.heal();
    // What a process that was killed has left unsynced is seen by the next one: then that has to be durable.
    if (round % 2 === 0) {
      service = await machine.start(env);
      startWork(service, merchants);
      await progress(service, merchants, 5);
      await service.kill();
      await pauseAll(merchants);
    }
    lost.push(machine.cutPower(random));
    service = await machine.start(env).catch((error) => assert.fail(`seed ${seed}: ${error}`));
    for (const merchant of merchants) {
      await merchant.check(service.url, false);
      await merchant.settle(service.url);
      assert.deepEqual(merchant.findings, { lost: [], doubled: [], half: [] }, `seed ${seed}`);
    }
  }
  context.diagnostic(
    `seeds ${firstSeed} to ${firstSeed + rounds - 1}; writes lost in each cut: ${lost.join(', ')}`,
  );
  await assertWhole(service, merchants, `seeds from ${firstSeed}`);
});

test('a segment that a killed process had just begun, its folder not synced, is kept by a later power cut', async (context) => {
  const machine = machineFor(context);
  if (machine === null) return;
  const first = await machine.start(env);
  const exited = endOf(first);
  machine.faults({ on: 'sync', place: 'shard-1/log$', action: 'kill' });
  const [, shop] = await shopOnEachShard(first, 2);
  const merchant = new Merchant(context, 'shop1', shop!.key);
  startWork(first, [merchant], hurriedRestMs);
  await exited;
  await merchant.pause();
  machine.heal();
  const second = await machine.start(env);
  startWork(second, [merchant]);
  await progress(second, [merchant], 5);
  await second.kill();
  await merchant.pause();
  assert(machine.cutPower(() => 0) > 0);
  const third = await machine.start(env);
  await merchant.check(third.url, false);
  await assertWhole(third, [merchant], 'everything unsynced was lost');
});

test('a stalled disk, wrong clocks and a stopped process pass, and nothing is lost', async (context) => {
  const machine = machineFor(context);
  if (machine === null) return;
  const service = await machine.start(env);
  const merchants = await merchantsOn(context, service);
  startWork(service, merchants);
  await progress(service, merchants, 5);
  const ready = () =>
    service.until(async () => ((await service.call('/readyz')).status === 200 ? true : undefined));
  // Every sync of the logs takes long, and then none does.
  machine.faults({ on: 'sync', place: '/log/', action: 'wait', argument: 2_000, count: 2 });
  await progress(service, merchants, 5);

  // The clock is an hour ahead, goes too fast, and is right again.
  machine.setClocks({ realMs: 3_600_000, driftPpm: 50_000 });
  await service.until(() => /clock has stepped/.test(service.output()) || undefined);
  await progress(service, merchants, 5);
  machine.heal();
  await progress(service, merchants, 5);

  // Stopped for a minute: the clocks have gone on meanwhile.
  process.kill(service.process.pid!, 'SIGSTOP');
  machine.setClocks({ realMs: 60_000, monotonicMs: 60_000 });
  await wait(100);
  process.kill(service.process.pid!, 'SIGCONT');
  await ready();
  await progress(service, merchants, 5);
  await pauseAll(merchants);
  for (const merchant of merchants) await merchant.settle(service.url);
  const odd = merchants.flatMap(({ answers }) =>
    [...answers.keys()].filter((answer) => !expected.has(answer)),
  );
  assert.deepEqual(odd, [], 'answers that no merchant should get');
  assert.doesNotMatch(service.output(), /stays down/);
  await assertWhole(service, merchants, '');
});

const expected = new Set([
  '200',
  '400 amount_too_small',
  '400 payment_intent_unexpected_state',
  '409 idempotency_in_progress',
  '503 api_error',
]);

/** Whether a recovery of the shard would come upon damage. */
function isDamaged(folder: DataFolder, shard: number): boolean {
  const { log, checkpoint } = foldersOfJournal(folder.shardDir(shard));
  const after = checkpointSequenceIn(checkpoint) ?? 0;
  const found = new LogReader(log, folder.shardIdentity(shard)).read({ after });
  return [...found].some((each) => isDefect(each) && (each.toSequence ?? each.fromSequence) > after);
}

test('a bit that flips on its way to the disk is told, and nothing else is shown for it', async (context) => {
  const machine = machineFor(context);
  if (machine === null) return;
  let service = await machine.start(env);
  const folder = lookAtDataFolder(machine.dataDir);
  const merchants = await merchantsOn(context, service);
  const [near, far] = merchants as [Merchant, Merchant];
  startWork(service, merchants);
  await progress(service, merchants, 10);
  for (;;) {
    // A bit in the middle of one write to the log. Not every one is of a batch: some are of a page's free room, or of a header.
    machine.faults({ on: 'write', place: 'shard-1/log', action: 'flip', argument: 2_048 * 8 + 3, count: 1 });
    const { acknowledged } = far;
    const isTold = /is damaged in segment|stays down/;
    await service.until(() => far.acknowledged > acknowledged || isTold.test(service.output()) || undefined);
    if (!isDamaged(folder, 1)) continue;
    // The service writes on between two looks, so the last one comes after it is killed.
    await service.kill();
    if (isDamaged(folder, 1)) break;
    // The checkpoint has got what was damaged after it was read.
    service = await machine.start(env);
    startWork(service, merchants);
  }
  await pauseAll(merchants);
  machine.heal();
  service = await machine.start(env);
  await service.until(
    () => /shard 1 stays down: [^\n]*shard-1[^\n]* at sequence \d+: /.test(service.output()) || undefined,
  );
  await near.settle(service.url);
  await near.check(service.url, true);
  for (const { findings } of merchants) assert.deepEqual(findings, { lost: [], doubled: [], half: [] });
  assert.equal(await service.stop(), 0);
});
