// The partition as a node holds it that stands by: it follows the log of the owner, batch by batch.

import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { endOfBatch } from '../../src/journal/log/codec.ts';
import { isMirror, openJournal } from '../../src/journal/open-journal.ts';
import { openStandby } from '../../src/journal/standby-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  recovered,
  replayOf,
  segmentEachTurn,
  sequencesOf,
  startMs,
  turnAt,
  upTo,
} from './journal-fixtures.ts';
import { RemoteMachines } from './memory-remote-log.ts';
import { bytesOf } from './small-log.ts';

const hourMs = 3_600_000;

test('a node that stands by has what was acknowledged, and its checkpoint follows', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  const standby = await openStandby(options);
  assert.equal(standby.sequence, 0);
  await standby.append([]);
  await standby.append([bytesOf(1, 2), bytesOf(3, 1)]);
  assert.equal(standby.sequence, 3);
  await standby.checkpoint();
  await standby.append([bytesOf(4, 2, 2)]);
  await standby.close();
  assert.ok(isMirror(options.dir));

  const again = await openStandby(options);
  assert.equal(again.sequence, 5);
  await again.append([bytesOf(6, 1, 2)]);
  await again.close();

  const machines = new RemoteMachines();
  machines.batches = [bytesOf(1, 2), bytesOf(3, 1), bytesOf(4, 2, 2), bytesOf(6, 1, 2)];
  const owner = await openJournal({ ...options, remote: machines.connect() });
  assert.deepEqual(sequencesOf(await replayOf(owner)), upTo(6, 4));
  assert.equal(owner.ownership.epoch, 3, 'it is greater than those of the batches that it has mirrored');
  await owner.close();
});

test('once a checkpoint is written others are told that the mirror has what it holds', async (context) => {
  const machines = new RemoteMachines();
  const options = segmentEachTurn(temporaryFolder(context));
  const owner = await recovered(await openJournal({ ...options, remote: machines.connect() }));
  const appended = owner.log.append(turnAt(1, 2));
  await appended.durable;
  // The mirror is being written still.
  await owner.checkpointer.putMetadata(new Map([['clock', Uint8Array.of(1)]]));
  await owner.checkpointer.write(2);
  for (let turns = 0; machines.mirrored !== 2 && turns < 1_000; turns++) await setImmediate();
  assert.equal(machines.mirrored, 2);
  await owner.close();
});

test('a standby whose newest segment is gone says so, and one that is closed can be opened again', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  for (const first of [1, 2]) {
    const standby = await openStandby(options);
    await standby.append([bytesOf(first, 1)]);
    await standby.close();
    await assert.rejects(standby.append([bytesOf(first + 1, 1)]), /The log is closed/);
  }
  rmSync(join(options.dir, 'log', '0000000000000002'), { recursive: true });
  for (let times = 0; times < 2; times++)
    await assert.rejects(openStandby(options), /The newest segment of the log is missing/);
});

test('what is no beginning of the log is refused', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  const batches = [bytesOf(1, 2), bytesOf(3, 1)];
  const first = await openStandby(options);
  await first.append(batches);
  await first.close();
  const standby = await openStandby(options);
  const end = endOfBatch(batches[1]!);
  await standby.refuseDivergence({ firstSequence: 1, end }, async () => null);
  await assert.rejects(
    standby.refuseDivergence({ firstSequence: 1, end: endOfBatch(batches[0]!) }, async () => null),
    JournalDamaged,
  );
  const torn = bytesOf(4, 1);
  await assert.rejects(standby.append([torn.fill(0, torn.length - 8)]), JournalDamaged);
  await standby.close();
});

test('what is old and in the checkpoint is dropped, and nothing else', async (context) => {
  const options = segmentEachTurn(temporaryFolder(context));
  const standby = await openStandby(options);
  const segments = () =>
    readdirSync(join(options.dir, 'log'))
      .map(Number)
      .sort((a, b) => a - b);
  await standby.drop(0);
  for (const at of [1, 2, 3]) await standby.append([bytesOf(at, 1, 1, startMs + at * 30 * hourMs)]);
  await standby.drop(0);
  assert.deepEqual(segments(), [1, 2, 3]);
  await standby.checkpoint();
  await standby.drop(40 * hourMs);
  assert.deepEqual(segments(), [2, 3], 'the first ended before that');
  await standby.drop(0);
  assert.deepEqual(segments(), [3]);
  await standby.append([bytesOf(4, 1, 1, startMs + 150 * hourMs)]);
  await standby.close();
  const journal = await recovered(
    await openStandby(options).then(async (found) => {
      assert.equal(found.sequence, 4);
      await found.close();
      const machines = new RemoteMachines();
      machines.batches = [
        bytesOf(1, 1, 1, startMs + 30 * hourMs),
        bytesOf(2, 1, 1, startMs + 60 * hourMs),
        bytesOf(3, 1, 1, startMs + 90 * hourMs),
        bytesOf(4, 1, 1, startMs + 150 * hourMs),
      ];
      return openJournal({ ...options, remote: machines.connect() });
    }),
  );
  assert.equal(journal.log.nextSequence, 5);
  await journal.close();
});
