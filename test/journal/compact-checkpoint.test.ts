// A checkpoint that is compacted while its shard goes on: killed at any step, its process leaves the old file or the new one whole.
// What nobody may lose on the way is there afterwards: what the log has, and what only the checkpoint has.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexRowsOf } from '../../src/domain/indexes.ts';
import type { Compacting, ResponseLocation } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { compactCheckpoint } from '../../src/journal/stopped-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { appendCycled, assertReflects } from './cycled.ts';
import { digest, identity, paymentIntent, recovered, startMs, turnAt } from './journal-fixtures.ts';

const hourMs = 3_600_000;

function open(dir: string, logBytesMax = Number.POSITIVE_INFINITY) {
  const options = { dir, identity, indexRowsOf, segmentBytesMax: 300_000, logBytesMax };
  return openJournal(options);
}

const lastIn = (journal: Awaited<ReturnType<typeof open>>) =>
  Number(Buffer.from(journal.checkpoint.getMetadata('last') ?? '').toString());

/** Folders of the checkpoint, in force or not. */
const checkpointsIn = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('state'));

test('killed at each step, a compaction leaves one whole checkpoint, and nothing is lost', async (context) => {
  const dir = temporaryFolder(context);
  const first = await recovered(await open(dir));
  await first.checkpointer.write(await appendCycled(first, 4_500));
  await first.close();
  const steps: string[] = [];
  for (let killAt = 1; steps.at(-1) !== 'none'; killAt++) {
    const child = join(import.meta.dirname, 'compact-child.ts');
    const { stdout, stderr, signal } = spawnSync(process.execPath, [child, dir, String(killAt)]);
    const lines = stdout.toString().split('\n');
    const step = lines.findLast((line) => line.startsWith('step '))?.slice(5);
    assert.equal(signal, step === 'none' ? null : 'SIGKILL', stderr.toString());
    steps.push(step!);
    const durable = lines.findLast((line) => line.startsWith('durable '))?.slice(8);
    const left = checkpointsIn(dir);
    const journal = await recovered(await open(dir));
    assert.equal(checkpointsIn(dir).length, 1, left.join());
    if (durable !== undefined) {
      assert.equal(lastIn(journal), Number(durable));
      assertReflects(journal, Number(durable));
    }
    await journal.close();
    if (step === 'copying')
      assert(
        left.some((name) => name.endsWith('.prepared')),
        left.join(),
      );
    if (step === 'switched') assert.equal(left.length, 2, left.join());
  }
  assert.deepEqual([...new Set(steps)], ['copying', 'switching', 'switched', 'none']);
});

test('what only the checkpoint has goes along: stored responses, keys, and what was not dropped meanwhile', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await open(dir, 1));
  const locations: ResponseLocation[] = [];
  for (let hour = 0; hour < 4; hour++) {
    const { nextSequence } = journal.log;
    const appended = journal.log.append(turnAt(nextSequence, 2, startMs + hour * hourMs));
    locations.push(appended.locations[0]!);
    await appended.durable;
    await appendCycled(journal, 1_500);
  }
  const last = journal.log.nextSequence - 1;
  await journal.checkpointer.write(last);
  // With so small a log, its segments go and their responses stay in the checkpoint.
  const oldest = await journal.checkpointer.drop(startMs - hourMs);
  assert(oldest > 2);
  const dropped: number[] = [];
  await journal.checkpointer.compact(async () => {
    dropped.push(await journal.checkpointer.drop(startMs + 2 * hourMs));
  });
  assert(dropped.length > 0 && dropped.every((first) => first === oldest), 'nothing is dropped meanwhile');
  const found = locations.map((location, i) => {
    const number = location.record;
    assert(number > 0, String(i));
    return journal.log.readResponse(location, digest(number))?.requestId;
  });
  assert.deepEqual(
    found,
    locations.map(({ record }) => paymentIntent(record).id.replace('pi_', 'req_')),
  );
  assert.equal([...journal.checkpoint.idempotencyRecords(startMs)].length, 4);
  assert((await journal.checkpointer.drop(startMs + 2 * hourMs)) >= oldest, 'afterwards it is');
  assert.equal([...journal.checkpoint.idempotencyRecords(startMs)].length, 2);
  await journal.close();
});

test('a damaged record is named, and the checkpoint stays as it is', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await open(dir));
  const last = await appendCycled(journal, 300);
  await journal.checkpointer.write(last);
  await journal.close();
  const file = join(dir, 'state', 'data.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf('Order 77'); at >= 0; at = bytes.indexOf('Order 77', at + 1)) bytes[at]! ^= 1;
  writeFileSync(file, bytes);
  const again = await recovered(await open(dir));
  const steps: Compacting[] = [];
  await assert.rejects(
    again.checkpointer.compact((progress) => void steps.push(progress)),
    {
      name: 'JournalDamaged',
      message: new RegExp(
        `^${file} is damaged: the record ${paymentIntent(77).id} is not as it was written. Restore`,
      ),
    },
  );
  assert.deepEqual([checkpointsIn(dir), again.checkpoint.sequence], [['state'], last]);
  await again.checkpointer.write(await appendCycled(again, 40));
  await again.close();
});

test('a checkpoint is compacted once at a time, and the log keeps what that needs', async (context) => {
  const journal = await recovered(await open(temporaryFolder(context)));
  await journal.checkpointer.write(await appendCycled(journal, 300));
  let asked = 0;
  await journal.checkpointer.compact(async () => {
    if (asked++ > 0) return;
    await assert.rejects(
      journal.checkpointer.compact(() => {}),
      { name: 'JournalFailure', message: 'The checkpoint is being compacted already' },
    );
    assert.equal(await journal.checkpointer.drop(Number.POSITIVE_INFINITY), 1);
  });
  assert(asked > 0);
  await journal.checkpointer.compact(() => {});
  await journal.close();
});

test('a checkpoint whose service is stopped is compacted, too, and one that is damaged is named and stays', async (context) => {
  const dir = temporaryFolder(context);
  const journal = await recovered(await open(dir));
  const last = await appendCycled(journal, 600);
  await journal.checkpointer.write(last);
  await journal.close();
  const steps: Compacting[] = [];
  const report = (progress: Compacting) => void steps.push(progress);
  const { before, after } = await compactCheckpoint(dir, identity, indexRowsOf, report);
  assert(after <= before && steps.length > 0);
  const [name] = checkpointsIn(dir);
  assert.deepEqual(checkpointsIn(dir), ['state-2']);
  const again = await recovered(await open(dir));
  assertReflects(again, last);
  await again.close();
  const file = join(dir, name!, 'data.mdb');
  writeFileSync(file, readFileSync(file).fill(0, 0, 8_192));
  const damaged = (error: Error) => error.name === 'JournalDamaged' && error.message.includes(file);
  await assert.rejects(compactCheckpoint(dir, identity, indexRowsOf, report), damaged);
  await assert.rejects(
    open(dir),
    (error: Error) => damaged(error) && /Restore the data folder/.test(error.message),
  );
  assert.deepEqual(checkpointsIn(dir), [name]);
});
