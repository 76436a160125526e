// A log that is moved to other machines and back: an interrupted move goes on, and what differs is told, never overwritten.

import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openEnvironment } from '../../src/disk/environment.ts';
import { partOf } from '../../src/disk/identity.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { encodeBatch, endOfBatch, readBatchHeader } from '../../src/journal/log/codec.ts';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { type LogRange, LogReader } from '../../src/journal/log-reader.ts';
import { compareLogs, moveLogFrom, moveLogTo } from '../../src/journal/move-log.ts';
import { isMirror, type JournalOptions, markMirror, openJournal } from '../../src/journal/open-journal.ts';
import { openStandby } from '../../src/journal/standby-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  identity,
  recovered,
  replayOf,
  segmentEachTurn,
  sequencesOf,
  startMs,
  tag,
  turnAt,
  upTo,
} from './journal-fixtures.ts';
import { RemoteMachines } from './memory-remote-log.ts';
import { bytesOf } from './small-log.ts';

/** A stopped journal of five entries in three batches, of which the checkpoint has the first two entries. */
async function stopped(context: TestContext) {
  const dir = temporaryFolder(context);
  const journal = await openJournal(segmentEachTurn(dir));
  await appendTurns(journal, [2]);
  await journal.checkpointer.putMetadata(new Map([['clock', Uint8Array.of(9)]]));
  await journal.checkpointer.write(2);
  await appendTurns(journal, [1, 2], startMs + 1_000);
  await journal.close();
  return segmentEachTurn(dir);
}

const endsIn = ({ batches }: RemoteMachines) => batches.map((bytes) => endOfBatch(bytes).sequence);
const damaged = (pattern: RegExp) => (error: unknown) =>
  error instanceof JournalDamaged && pattern.test(error.message);

test('all of a log but its first batch is moved, with its metadata, and the folder is its mirror then', async (context) => {
  const options = await stopped(context);
  const machines = new RemoteMachines();
  const reported: number[] = [];
  const last = await moveLogTo(machines.connect(), options, (sequence) => reported.push(sequence), startMs);
  assert.deepEqual([last, reported, endsIn(machines)], [5, [3, 5], [3, 5]]);
  assert.deepEqual([...machines.metadata.get('clock')!], [9]);
  assert.deepEqual([machines.mirrored, machines.firstSequence, isMirror(options.dir)], [5, 3, true]);
  assert.equal(new EpochFile(options.dir).stored, machines.epoch);
  assert.ok(machines.epoch > 1, 'it is greater than that of whoever wrote the log');
  const node = await openJournal({ ...options, remote: machines.connect() });
  assert.deepEqual(sequencesOf(await replayOf(node)), upTo(5, 3));
  await node.close();
});

test('a move that was interrupted goes on, and reports the rest alone', async (context) => {
  const options = await stopped(context);
  const machines = new RemoteMachines();
  await moveLogTo(machines.connect(), options, () => {}, startMs);
  for (const [moved, rest] of [
    [1, [5]],
    [0, [3, 5]],
  ] as const) {
    machines.batches.length = moved;
    const reported: number[] = [];
    assert.equal(
      await moveLogTo(machines.connect(), options, (sequence) => reported.push(sequence), startMs),
      5,
    );
    assert.deepEqual([reported, endsIn(machines)], [rest, [3, 5]]);
  }
});

type Begun = readonly [what: string, make: (context: TestContext) => Promise<JournalOptions>, first: number];

/** What a checkpoint has besides the log, as after a reshard or a restore, is nowhere else. */
const begun: readonly Begun[] = [
  ['with its first entry', stopped, 3],
  [
    'whose beginning was dropped',
    async (context) => {
      const options = await stopped(context);
      rmSync(join(options.dir, 'log', '1'.padStart(16, '0')), { recursive: true });
      return options;
    },
    4,
  ],
  [
    'that is empty',
    async (context) => {
      const options = segmentEachTurn(temporaryFolder(context));
      await (await openJournal(options)).close();
      return options;
    },
    2,
  ],
  [
    'of a mirror that is empty',
    async (context) => {
      const options = segmentEachTurn(temporaryFolder(context));
      await (await openJournal(options)).close();
      markMirror(options.dir);
      return options;
    },
    2,
  ],
];

for (const [what, make, first] of begun)
  test(`a log ${what} has no beginning where it was moved, so a new folder is refused`, async (context) => {
    const options = await make(context);
    const machines = new RemoteMachines();
    const moved = await moveLogTo(machines.connect(), options, () => {}, startMs);
    assert.equal(await moveLogTo(machines.connect(), options, () => {}, startMs), moved, 'again');
    assert.deepEqual([machines.firstSequence, isMirror(options.dir)], [first, true]);
    const [found, checksumAt] = [await machines.connect().inspect(), machines.connect().checksumAt];
    const node = await openStandby(segmentEachTurn(temporaryFolder(context)));
    const refused = damaged(new RegExp(`from sequence ${first} on, and this mirror ends with 0: `));
    await assert.rejects(node.refuseDivergence(found, checksumAt), refused);
    await node.close();
    const mirror = await openStandby(options);
    await mirror.refuseDivergence(found, checksumAt);
    assert.equal(mirror.sequence, moved);
    await mirror.close();
    assert.equal(await moveLogFrom(machines.connect(), options), moved);
  });

test('a log is moved under a newer epoch than that of its last owner, also where the note of it is lost', async (context) => {
  const options = await stopped(context);
  for (let owners = 1; owners < 3; owners++) {
    const journal = await recovered(await openJournal(options));
    await appendTurns(journal, [1]);
    await journal.close();
  }
  rmSync(join(options.dir, 'epoch'));
  const machines = new RemoteMachines();
  await moveLogTo(machines.connect(), options, () => {}, startMs);
  assert.equal(machines.epoch, 4);
});

test('a damaged log is not moved at all, and is read one batch at a time', async (context) => {
  const options = await stopped(context);
  const [first, ...others] = readdirSync(join(options.dir, 'log')).sort();
  const segment = join(options.dir, 'log', first ?? '');
  const environment = openEnvironment({
    folder: segment,
    part: partOf(identity, 'log'),
    mapSize: 1 << 20,
    check: 'none',
  });
  environment.putSync(1, Buffer.from('no batch'));
  await environment.close();
  let found = 0;
  const { read } = LogReader.prototype;
  context.mock.method(LogReader.prototype, 'read', function* (this: LogReader, range: LogRange) {
    for (const each of read.call(this, range)) {
      found++;
      yield each;
    }
  });
  const machines = new RemoteMachines();
  await assert.rejects(
    moveLogTo(machines.connect(), options, () => {}, startMs),
    damaged(/the log is damaged at sequence 1 /),
  );
  assert.equal(found, 1, `nothing of the other ${others.length} segments was read`);
  assert.deepEqual([machines.epoch, machines.batches, isMirror(options.dir)], [0, [], false]);
});

test('machines with another log are left as they are', async (context) => {
  const options = await stopped(context);
  for (const other of [turnAt(1, 3), { ...turnAt(1, 2), timeMs: startMs + 5 }, turnAt(1, 9)]) {
    const machines = new RemoteMachines();
    machines.batches.push(encodeBatch(other, tag, 1).bytes);
    const before = [...machines.batches];
    await assert.rejects(
      moveLogTo(machines.connect(), options, () => {}, startMs),
      damaged(/PostgreSQL has another log, which ends with sequence/),
    );
    assert.deepEqual(machines.batches, before);
    assert.equal(isMirror(options.dir), false);
  }
});

test('a folder without a log is left as it is when machines have another one', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  await (await openJournal(options)).close();
  markMirror(options.dir);
  const before = new EpochFile(options.dir).stored;
  const machines = new RemoteMachines();
  machines.batches.push(bytesOf(1, 3, 1));
  await assert.rejects(
    moveLogTo(machines.connect(), options, () => {}, startMs),
    damaged(/PostgreSQL has another log, which ends with sequence 3/),
  );
  const firstSequence = new LogReader(join(options.dir, 'log'), identity).firstSequence();
  assert.deepEqual(
    [firstSequence, isMirror(options.dir), new EpochFile(options.dir).stored],
    [null, true, before],
  );
});

test('a mirror without a log stays one when its move breaks off', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  await (await openJournal(options)).close();
  markMirror(options.dir);
  const remote = new RemoteMachines().connect();
  remote.begin = () => Promise.reject(new Error('the connection is lost'));
  await assert.rejects(
    moveLogTo(remote, options, () => {}, startMs),
    /connection is lost/,
  );
  assert.equal(isMirror(options.dir), true);
});

test('a log that is moved back is the only one, and has what came meanwhile', async (context) => {
  const options = await stopped(context);
  const machines = new RemoteMachines();
  await moveLogTo(machines.connect(), options, () => {}, startMs);
  const dir = temporaryFolder(context);
  cpSync(options.dir, dir, { recursive: true });
  const node = await recovered(await openJournal({ ...segmentEachTurn(dir), remote: machines.connect() }));
  await appendTurns(node, [4]);
  await node.close();
  assert.equal(await moveLogFrom(machines.connect(), options), 9);
  assert.equal(isMirror(options.dir), false);
  assert.equal(new EpochFile(options.dir).stored, machines.epoch);
  const alone = await openJournal(options);
  assert.ok(alone.ownership.epoch > machines.epoch);
  assert.deepEqual(sequencesOf(await replayOf(alone)), upTo(9, 3));
  await appendTurns(alone, [1]);
  await alone.close();
});

type Difference = readonly [what: string, differ: (machines: RemoteMachines) => void, told: RegExp | null];

const rewritten = (machines: RemoteMachines, at: number, epoch: number, timeMs = startMs + 1_000) => {
  const { firstSequence, lastSequence } = readBatchHeader(machines.batches[at]!);
  const turn = turnAt(firstSequence, lastSequence - firstSequence + 1, timeMs);
  machines.batches[at] = encodeBatch(turn, tag, epoch).bytes;
};

const differences: readonly Difference[] = [
  ['nothing', () => {}, null],
  ['what was dropped on the other machines', (machines) => machines.drop(4), null],
  [
    'a batch that the other machines have lost',
    (machines) => machines.batches.pop(),
    /the mirror goes on behind sequence 3, where PostgreSQL's log ends/,
  ],
  ['a batch that the mirror lacks', (machines) => machines.batches.push(bytesOf(6, 2, 2)), null],
  [
    'a batch of an owner that had lost the log',
    (machines) => {
      machines.batches.push(bytesOf(6, 1, 9));
      machines.batches.push(bytesOf(7, 1, 8));
    },
    /PostgreSQL's batch 7 is of epoch 8, behind 9/,
  ],
  ['damage', (machines) => machines.damage(3), /PostgreSQL's batch behind sequence 2: /],
  ['a gap', (machines) => machines.batches.splice(0, 1), /PostgreSQL's batch behind sequence 2: /],
  [
    'another batch at the same place',
    (machines) => rewritten(machines, 0, 1, startMs + 7),
    /the batch 3 is another in the mirror than in PostgreSQL/,
  ],
];

for (const [what, differ, told] of differences)
  test(`compared with its mirror, a log has ${what}: ${told === null ? 'nothing is told' : 'it is told'}`, async (context) => {
    const options = await stopped(context);
    const machines = new RemoteMachines();
    await moveLogTo(machines.connect(), options, () => {}, startMs);
    differ(machines);
    const reported: number[] = [];
    const defects = await compareLogs(machines.connect(), options, (sequence) => reported.push(sequence));
    if (told === null) {
      assert.deepEqual(defects, []);
      assert.equal(reported.at(-1), 5);
    } else {
      assert.equal(defects.length, 1, defects.join('\n'));
      assert.match(defects[0]!, told);
    }
  });

test('an end that the partition does not say is told', async (context) => {
  const options = await stopped(context);
  const machines = new RemoteMachines();
  await moveLogTo(machines.connect(), options, () => {}, startMs);
  for (const wrong of [
    { sequence: 7, checksum: machines.end.checksum },
    { sequence: 5, checksum: machines.end.checksum + 1 },
  ]) {
    const remote = machines.connect();
    const inspect = async () => ({ ...(await machines.connect().inspect()), end: wrong });
    assert.deepEqual(await compareLogs({ ...remote, inspect }, options, () => {}), [
      `PostgreSQL's log ends with sequence 5, and its partition says ${wrong.sequence}`,
    ]);
  }
});
