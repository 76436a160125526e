// The log that other machines hold, too: the engine's contract with those machines in memory and a mirror on LMDB, and what
// the journal over it does when a node takes a partition, loses it, and closes.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { JournalDamaged, JournalFailure } from '../../src/journal/journal.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import { ReplicatedLog } from '../../src/journal/log/replicated-log.ts';
import { isMirror, openJournal } from '../../src/journal/open-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { engineContract } from './engine-contract.ts';
import {
  appendTurns,
  digest,
  identity,
  indexRowsOf,
  recovered,
  replayOf,
  sequencesOf,
  tag,
  turnAt,
  upTo,
} from './journal-fixtures.ts';
import { RemoteMachines } from './memory-remote-log.ts';
import { bytesOf, smallLog } from './small-log.ts';

function engineOn(machines: RemoteMachines, context: TestContext, dir = temporaryFolder(context)) {
  const { engine: mirror } = smallLog(dir);
  const [remote, heard] = [machines.connect(), [] as boolean[]];
  /** How far the mirror has come each time that nothing is being written. */
  const portions: number[] = [];
  let isTrusted = true;
  const engine = new ReplicatedLog(remote, mirror, identity, {
    onOwnership: (isHeld) => heard.push(isHeld),
    isTrusted: () => isTrusted,
    onPortion: () => portions.push(mirror.end().sequence),
  });
  context.after(() => engine.close());
  return { engine, mirror, remote, heard, portions, trust: (is: boolean) => (isTrusted = is) };
}

test('a log that is closed leaves its mirror open until what is on its way is answered', async (context) => {
  const machines = new RemoteMachines();
  const { engine, mirror } = engineOn(machines, context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  const { promise: held, resolve: answer } = Promise.withResolvers<void>();
  machines.held = held;
  const appended = engine.append(identity, epoch, 1, bytesOf(1, 1, epoch));
  const close = mirror.close.bind(mirror);
  let isClosed = false;
  mirror.close = () => {
    isClosed = true;
    return close();
  };
  const closed = engine.close();
  await assert.rejects(appended, { message: 'The log is closed', outcome: 'unknown', isRemote: true });
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  assert.equal(isClosed, false);
  answer();
  await closed;
  assert.equal(isClosed, true);
});

test('a batch of an earlier epoch of this node is refused before it is sent', async (context) => {
  const machines = new RemoteMachines();
  const { engine, heard } = engineOn(machines, context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  await assert.rejects(engine.append(identity, epoch - 1, 1, bytesOf(1, 1, epoch - 1)), {
    name: 'JournalFailure',
    outcome: 'fenced',
  });
  assert.deepEqual([machines.batches, heard], [[], [true, false]]);
});

engineContract('on machines in memory', async (context) => {
  const machines = new RemoteMachines();
  return {
    open: async () => engineOn(machines, context).engine,
    async hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      machines.held = promise;
      return async () => resolve();
    },
    async loseAnswer(isStored) {
      machines.losing = { isStored };
      return async () => {};
    },
    damage: async (firstSequence) => machines.damage(firstSequence),
  };
});

test('between the portions that the mirror lacks nothing is being written', async (context) => {
  const machines = new RemoteMachines();
  const { engine, portions } = engineOn(machines, context);
  machines.epoch = 1;
  machines.batches = [bytesOf(1, 2, 1), bytesOf(3, 1, 1), bytesOf(4, 3, 1)];
  await engine.acquire(0);
  assert.deepEqual(portions, [0, 2, 3, 6]);
});

test('what a newer owner appends while an owner brings its mirror up to date does not get into that', async (context) => {
  const machines = new RemoteMachines();
  const { engine, mirror, remote } = engineOn(machines, context);
  machines.epoch = 1;
  machines.batches = [bytesOf(1, 2, 1)];
  const acquire = remote.acquire.bind(remote);
  remote.acquire = async (after) => {
    const acquired = await acquire(after);
    machines.epoch++;
    machines.batches.push(bytesOf(3, 1, machines.epoch));
    return acquired;
  };
  await assert.rejects(engine.acquire(0), {
    name: 'JournalFailure',
    outcome: 'fenced',
    message: 'Partition 1 has a newer owner: a batch of epoch 2 is refused',
  });
  assert.equal(mirror.end().sequence, 2);
});

test('one append is under way at a time, and a stored response is read while it waits', async (context) => {
  const machines = new RemoteMachines();
  const { engine } = engineOn(machines, context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  machines.held = promise;
  const { bytes, locations } = encodeBatch(turnAt(1, 2), tag, epoch);
  const appended = [
    engine.append(identity, epoch, 1, bytes),
    engine.append(identity, epoch, 3, bytesOf(3, 1, epoch)),
    engine.append(identity, epoch, 4, bytesOf(4, 2, epoch)),
  ];
  const [location] = locations;
  const ofWaiting = engine.readResponse(location!, digest(1));
  assert.equal(ofWaiting?.requestId, 'req_00000000000000000000000001');
  const durableBefore = engine.durableEnd;
  assert.equal(durableBefore, null);
  resolve();
  await Promise.all(appended);
  await engine.durable(5);
  assert.deepEqual([engine.durableEnd?.sequence, machines.appendingMax], [5, 1]);
  assert.deepEqual(engine.readResponse(location!, digest(1)), ofWaiting);
});

test('a node that loses the partition hears so at once, and what waits is refused', async (context) => {
  const machines = new RemoteMachines();
  const { engine, heard } = engineOn(machines, context);
  const { epoch, isHeld, lostBy, confirm } = await engine.acquire(0);
  engine.start(1);
  assert.deepEqual([heard, isHeld(), lostBy?.()], [[true], true, null]);
  await confirm?.();
  await machines.connect().acquire(0);
  await assert.rejects(async () => confirm?.(), JournalFailure);
  assert.deepEqual([heard, isHeld()], [[true], true], 'who asks is told, and acts on it');
  const waiting = [1, 2].map((at) => engine.append(identity, epoch, at, bytesOf(at, 1, epoch)));
  for (const each of await Promise.allSettled(waiting)) {
    assert.ok(each.status === 'rejected' && each.reason instanceof JournalFailure);
    assert.equal(each.reason.outcome, 'fenced');
  }
  assert.deepEqual([heard, isHeld(), lostBy?.()?.outcome], [[true, false], false, 'fenced']);
  await assert.rejects(engine.durable(1), JournalFailure);
  assert.deepEqual(machines.batches, []);
});

test('an error that is no failure of the log leaves unknown what became of the batch', async (context) => {
  const machines = new RemoteMachines();
  const { engine } = engineOn(machines, context);
  const { lostBy } = await engine.acquire(0);
  engine.start(1);
  machines.held = Promise.reject(new Error('the cable is gone'));
  await assert.rejects(engine.append(identity, 1, 1, bytesOf(1, 1, 1)), /appended to: the cable is gone/);
  assert.deepEqual([lostBy?.()?.outcome, lostBy?.()?.diskFull], ['unknown', false]);
});

test('an owner that is not trusted holds nothing, and has lost nothing', async (context) => {
  const { engine, heard, trust } = engineOn(new RemoteMachines(), context);
  const { isHeld, lostBy } = await engine.acquire(0);
  trust(false);
  assert.deepEqual([isHeld(), lostBy?.(), heard], [false, null, [true]]);
  trust(true);
  assert.ok(isHeld());
});

test('metadata is noted one time after the other, with what the mirror holds, and found by the next owner', async (context) => {
  const machines = new RemoteMachines();
  const { engine } = engineOn(machines, context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  const note = (name: string, value: number) => engine.noteMetadata(new Map([[name, Uint8Array.of(value)]]));
  const noted = async (count: number) => {
    for (let turns = 0; machines.notes < count && turns < 1_000; turns++) await new Promise(setImmediate);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  };
  note('a', 1);
  note('a', 2);
  note('b', 3);
  await noted(2);
  const values = ['a', 'b'].map((name) => machines.metadata.get(name));
  assert.deepEqual(
    [machines.notes, ...values, machines.mirrored],
    [2, Uint8Array.of(2), Uint8Array.of(3), 0],
  );
  await engine.append(identity, epoch, 1, bytesOf(1, 3, epoch));
  await engine.durable(3);
  note('c', 4);
  await noted(3);
  await new Promise(setImmediate);
  assert.deepEqual([machines.notes, machines.mirrored], [3, 3]);
  const next = engineOn(machines, context);
  await next.engine.acquire(0);
  assert.deepEqual(
    [...next.engine.notedMetadata].sort(),
    [
      ['a', 2],
      ['b', 3],
      ['c', 4],
    ].map(([name, value]) => [name, Uint8Array.of(Number(value))]),
  );
  note('d', 5);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.equal(machines.metadata.get('d'), undefined, 'an owner that has lost the partition stores none');
});

test('an owner that closes its log leaves the next one all that it has noted', async (context) => {
  const machines = new RemoteMachines();
  const { engine } = engineOn(machines, context);
  await engine.acquire(0);
  engine.start(1);
  for (const name of ['a', 'b']) engine.noteMetadata(new Map([[name, Uint8Array.of(1)]]));
  await engine.close();
  assert.deepEqual([...machines.metadata.keys()], ['a', 'b']);
});

test('what is acknowledged, and not yet on the disk of the mirror, is not noted as what the mirror holds', async (context) => {
  const machines = new RemoteMachines();
  const { engine } = engineOn(machines, context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  await engine.append(identity, epoch, 1, bytesOf(1, 3, epoch));
  assert.equal(engine.durableEnd, null);
  engine.noteMetadata(new Map([['a', Uint8Array.of(1)]]));
  while (machines.mirrored === null) await new Promise(setImmediate);
  assert.equal(machines.mirrored, 0);
  await engine.durable(3);
});

test('before anything is appended, the mirror holds what there was when the partition was acquired', async (context) => {
  const machines = new RemoteMachines();
  const dir = temporaryFolder(context);
  const first = engineOn(machines, context, dir);
  const { epoch } = await first.engine.acquire(0);
  first.engine.start(1);
  await first.engine.append(identity, epoch, 1, bytesOf(1, 3, epoch));
  await first.engine.durable(3);
  await first.engine.close();
  machines.mirrored = null;
  const second = engineOn(machines, context, dir);
  const owned = await second.engine.acquire(0);
  assert.equal(owned.epoch, epoch + 1);
  assert.equal(second.engine.durableEnd, null);
  second.engine.noteMetadata(new Map([['a', Uint8Array.of(1)]]));
  while (machines.mirrored === null) await new Promise(setImmediate);
  assert.equal(machines.mirrored, 3);
  assert.throws(() => second.engine.start(3), /recovery has read the log to its end/);
  second.engine.start(4);
  await second.engine.append(identity, owned.epoch, 4, bytesOf(4, 1, owned.epoch));
  await second.engine.durable(4);
  assert.equal(second.mirror.end().sequence, 4);
  assert.equal(second.mirror.lastEpoch, owned.epoch);
});

test('a mirror that fails fails the log, and whoever waits for it', async (context) => {
  const { engine, mirror, heard } = engineOn(new RemoteMachines(), context);
  const { epoch, isHeld, lostBy } = await engine.acquire(0);
  engine.start(1);
  assert.deepEqual([isHeld(), lostBy?.()], [true, null]);
  mirror.noteEpoch(epoch + 1);
  await engine.append(identity, epoch, 1, bytesOf(1, 1, epoch));
  await assert.rejects(engine.durable(1), { outcome: 'fenced' });
  assert.deepEqual([isHeld(), heard], [false, [true, false]]);
  assert.equal(lostBy?.()?.outcome, 'fenced');
  await assert.rejects(engine.append(identity, epoch, 2, bytesOf(2, 1, epoch)), { outcome: 'fenced' });
});

test('one that is closed closes the connection, and refuses', async (context) => {
  const { engine, remote, heard } = engineOn(new RemoteMachines(), context);
  const { epoch } = await engine.acquire(0);
  engine.start(1);
  await engine.close();
  assert.deepEqual([remote.isClosed, heard], [true, [true, false]]);
  await assert.rejects(engine.append(identity, epoch, 1, bytesOf(1, 1, epoch)), /The log is closed/);
});

const options = (dir: string, machines: RemoteMachines) => ({
  dir,
  identity,
  indexRowsOf,
  mapSizes: { log: 1 << 22, state: 1 << 22 },
  remote: machines.connect(),
});

test('a node with nothing gets all of the log, and one that was away what came meanwhile', async (context) => {
  const machines = new RemoteMachines();
  const [here, there] = [temporaryFolder(context), temporaryFolder(context)];
  const first = await openJournal(options(here, machines));
  await appendTurns(first, [2, 1]);
  await first.checkpointer.putMetadata(new Map([['clock', Uint8Array.of(9)]]));
  await first.checkpointer.write(3);
  await first.close();
  assert.ok(isMirror(here));

  const second = await openJournal(options(there, machines));
  assert.deepEqual(sequencesOf(await replayOf(second)), upTo(3));
  assert.deepEqual([...second.checkpoint.getMetadata('clock')!], [9]);
  await appendTurns(second, [3]);
  assert.equal(second.ownership.epoch, 2);
  await second.close();

  const third = await openJournal(options(here, machines));
  assert.deepEqual(sequencesOf(await replayOf(third)), upTo(6, 4), 'the checkpoint has the rest');
  assert.equal(third.log.nextSequence, 7);
  await third.close();
});

test('a mirror that is ahead, or that other machines have gone another way from, is refused', async (context) => {
  const machines = new RemoteMachines();
  const dir = temporaryFolder(context);
  const journal = await openJournal(options(dir, machines));
  await appendTurns(journal, [2, 1]);
  await journal.checkpointer.write(3);
  await journal.close();
  const lost = machines.batches.pop()!;
  const refused = (pattern: RegExp) =>
    assert.rejects(openJournal(options(dir, machines)), (error) => {
      assert.ok(error instanceof JournalDamaged, String(error));
      assert.match(error.message, pattern);
      assert.equal(error.isRemote, true, 'another node may not go on without it');
      return true;
    });
  await refused(/has lost what it had acknowledged/);
  machines.batches.push(bytesOf(3, 1, 2, 5));
  await refused(/has lost what it had acknowledged/);
  machines.batches = [...machines.batches.slice(0, -1), lost];
  const same = await recovered(await openJournal(options(dir, machines)));
  await same.close();
  await assert.rejects(
    openJournal({ ...options(dir, machines), remote: undefined }),
    /is the mirror of a log/,
  );
});

test('a damaged batch of the other machines does not get into the mirror', async (context) => {
  const machines = new RemoteMachines();
  const journal = await openJournal(options(temporaryFolder(context), machines));
  await appendTurns(journal, [2, 2, 2]);
  await journal.close();
  machines.damage(3);
  await assert.rejects(
    openJournal(options(temporaryFolder(context), machines)),
    /commit batch 3 of partition 1 in PostgreSQL is damaged/,
  );
});
