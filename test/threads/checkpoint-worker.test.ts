// The checkpoint thread on the real disk: the shard never reads stale records meanwhile. When the thread ends or fails the
// shard is told, and the next journal goes on with nothing lost.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Config } from '../../src/config/config-schema.ts';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import type { Journal, ResponseLocation } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { CheckpointWorker } from '../../src/threads/checkpoint-worker.ts';
import { appendCycled, assertReflects, newestOf, storedAmount } from '../journal/cycled.ts';
import {
  createEntry,
  digest,
  identity,
  paymentIntent,
  replayOf,
  sequencesOf,
  startMs,
  turnAt,
  upTo,
} from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Opened {
  readonly journal: Journal;
  readonly thread: Worker;
  /** Why the thread has ended without being told to. */
  readonly endings: Error[];
}

async function open(dir: string, segmentBytesMax = 300_000): Promise<Opened> {
  const endings: Error[] = [];
  const started = Promise.withResolvers<Worker>();
  process.once('worker', started.resolve);
  const config = {
    logLevel: 'silent',
    journal: { segmentBytesMax },
    logArchive: { dir: null },
  } as unknown as Config;
  const checkpointer = new CheckpointWorker().begin({ dir, identity, config }, (error) =>
    endings.push(error),
  );
  const journal = await openJournal({
    dir,
    identity,
    indexRowsOf,
    segmentBytesMax,
    checkpointer,
  });
  return { journal, thread: await started.promise, endings };
}

test('what is read while a checkpoint is written is neither stale nor ahead of it', async (context) => {
  const { journal, endings } = await open(temporaryFolder(context));
  let checkpointed = await appendCycled(journal, 2_500);
  assert.equal(await journal.checkpointer.write(checkpointed), 2_000);
  assertReflects(journal, checkpointed);
  let read = 0;
  for (let round = 0; round < 4; round++) {
    const sequence = await appendCycled(journal, 3_333);
    let isWriting = true;
    const written = journal.checkpointer.write(sequence).finally(() => {
      isWriting = false;
    });
    // The log goes on: what it gets now is not for this checkpoint.
    const appended = appendCycled(journal, 800);
    for (; isWriting; read++) {
      const number = (read * 7) % 2_000;
      const amount = storedAmount(journal, number)!;
      assert([newestOf(number, checkpointed), newestOf(number, sequence)].includes(amount));
      if (read % 50 === 0) await setImmediate();
    }
    assert.equal(await written, 2_000);
    assertReflects(journal, sequence);
    checkpointed = sequence;
    await appended;
  }
  assert(read > 0);
  assert.equal(await journal.checkpointer.write(checkpointed), 0, 'nothing is written twice');
  await journal.close();
  assert.deepEqual(endings, []);
});

test('a thread that ends in the middle of a checkpoint is told of, and the next one completes it', async (context) => {
  const dir = temporaryFolder(context);
  let checkpointed = 0;
  let durable = 0;
  for (let round = 0; round < 12; round++) {
    const { journal, thread, endings } = await open(dir);
    assert(journal.checkpoint.sequence >= checkpointed);
    const { sequence } = journal.checkpoint;
    assert.deepEqual(sequencesOf(await replayOf(journal)), upTo(durable, sequence + 1));
    checkpointed = durable;
    if (durable > 0) {
      await journal.checkpointer.write(durable);
      assertReflects(journal, durable);
    }
    durable = await appendCycled(journal, 2_300);
    const written = journal.checkpointer.write(durable);
    for (let turns = 0; turns < round * 4; turns++) await setImmediate();
    // It fails by itself. Whoever ends it from outside may meet it within LMDB, and ends the process.
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.postMessage(null);
    await Promise.all([
      ended,
      written.catch((error) => assert.equal((error as Error).name, 'JournalFailure')),
    ]);
    await assert.rejects(journal.checkpointer.write(durable), { name: 'JournalFailure' });
    assert.equal(endings.length, 1);
    assert.equal(endings[0]!.name, 'JournalFailure');
    assert.match(endings[0]!.message, /^the checkpoint thread failed: /);
    await assert.rejects(journal.close(), { name: 'JournalFailure' });
  }
});

test('a damaged batch of the log is not stepped over: the checkpoint ends before it', async (context) => {
  const dir = temporaryFolder(context);
  const { journal, endings } = await open(dir, 1 << 26);
  const good = await appendCycled(journal, 200);
  await journal.checkpointer.write(good);
  const sequence = await appendCycled(journal, 200);
  const file = join(dir, 'log', readdirSync(join(dir, 'log'))[0]!, 'data.mdb');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('Order 300');
  assert(at > 0);
  bytes[at]! ^= 1;
  writeFileSync(file, bytes, { flag: 'r+' });
  await assert.rejects(journal.checkpointer.write(sequence), {
    name: 'JournalDamaged',
    message: /damaged in segment 0{15}1 .* at sequence 281: its checksum .* restore .*from a backup/,
  });
  assertReflects(journal, good);
  await journal.close();
  assert.deepEqual(endings, []);
});

test('segments that the thread drops are gone for the shard, too, which goes on in its newest', async (context) => {
  const dir = temporaryFolder(context);
  const { journal } = await open(dir, 1);
  const locations: (ResponseLocation | null)[] = [];
  for (const hour of upTo(6)) {
    const turn = turnAt(journal.log.nextSequence, 2, startMs + hour * 3_600_000);
    const appended = journal.log.append(turn);
    locations.push(appended.locations[0]!);
    await appended.durable;
  }
  const readable = () =>
    locations.map((location, i) => journal.log.readResponse(location!, digest(2 * i + 1)) !== undefined);
  assert.deepEqual(readable(), Array(6).fill(true));
  await journal.checkpointer.write(8);
  assert.equal(await journal.checkpointer.drop(startMs + 20 * 3_600_000), 9);
  assert.deepEqual(readable(), [false, false, false, false, true, true]);
  assert.deepEqual(readdirSync(join(dir, 'log')).map(Number), [9, 11]);
  const { durable } = journal.log.append(turnAt(13, 2));
  await durable;
  await journal.checkpointer.write(14);
  assert.deepEqual(journal.checkpoint.get(paymentIntent(14).id), createEntry(14).changes[0]);
  await journal.close();
});

test('a thread that was closed has written what it was asked for before', async (context) => {
  const dir = temporaryFolder(context);
  const { journal, endings } = await open(dir);
  const sequence = await appendCycled(journal, 1_000);
  const asked = [
    journal.checkpointer.putMetadata(new Map([['clock', Uint8Array.of(7)]])),
    journal.checkpointer.write(sequence),
  ];
  await Promise.all(asked);
  await journal.close();
  assert.deepEqual(endings, []);
  const again = await open(dir);
  assert.deepEqual(Array.from(again.journal.checkpoint.getMetadata('clock')!), [7]);
  assertReflects(again.journal, sequence);
  await again.journal.close();
});

test('the shard reads right across the switch to a compacted file, and creates go on', async (context) => {
  const dir = temporaryFolder(context);
  const { journal, endings } = await open(dir);
  let checkpointed = await appendCycled(journal, 2_500);
  await journal.checkpointer.write(checkpointed);
  let metadata: number[] = [];
  for (let round = 0; round < 3; round++) {
    const steps = new Set<string>();
    let isCompacting = true;
    const compacted = journal.checkpointer
      .compact(({ step }) => void steps.add(step))
      .finally(() => {
        isCompacting = false;
      });
    let turns = 0;
    for (; isCompacting || turns === 0; turns++) {
      const before = checkpointed;
      const sequence = await appendCycled(journal, 300);
      const written = journal.checkpointer.write(sequence);
      for (let number = turns % 7; number < 2_000; number += 97) {
        const amounts = [newestOf(number, before), newestOf(number, sequence)];
        assert(amounts.includes(storedAmount(journal, number)!));
      }
      await written;
      checkpointed = sequence;
      await journal.checkpointer.putMetadata(new Map([['round', Uint8Array.of(round, turns % 256)]]));
    }
    const { before, after } = await compacted;
    assert(before > 0 && after > 0);
    assert.deepEqual([...steps], ['copying', 'switching', 'switched']);
    assertReflects(journal, checkpointed);
    metadata = [round, (turns - 1) % 256];
    assert.deepEqual(readdirSync(dir).sort(), ['epoch', 'log', `state-${round + 2}`]);
  }
  await journal.close();
  assert.deepEqual(endings, []);
  const again = await open(dir);
  assertReflects(again.journal, checkpointed);
  assert.deepEqual([...again.journal.checkpoint.getMetadata('round')!], metadata);
  await again.journal.close();
});

test('a compaction ends with its shard: nothing is lost, and nothing is left', async (context) => {
  const dir = temporaryFolder(context);
  const { journal, endings } = await open(dir);
  const sequence = await appendCycled(journal, 2_500);
  await journal.checkpointer.write(sequence);
  const begun = Promise.withResolvers<void>();
  const compacted = journal.checkpointer.compact(() => begun.resolve());
  const ended = assert.rejects(compacted, { name: 'JournalFailure', message: 'The shard is stopping' });
  await assert.rejects(
    journal.checkpointer.compact(() => {}),
    /is being compacted already/,
  );
  await begun.promise;
  await journal.close();
  await ended;
  assert.deepEqual([endings, readdirSync(dir).sort()], [[], ['epoch', 'log', 'state']]);
  const again = await open(dir);
  assertReflects(again.journal, sequence);
  await again.journal.close();
});
