// Full disks: the first append or checkpoint without space fails and ends the journal, or the process of the service.
// Everything that had settled is on disk, and with space again a new journal goes on.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { JournalFailure } from '../../src/journal/journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  appendTurns,
  digest,
  encoded,
  journalIn,
  paymentIntent,
  recovered,
  replayOf,
  sequencesOf,
  turnAt,
  upTo,
} from './journal-fixtures.ts';

const child = join(import.meta.dirname, 'crash-child.ts');
const run = `'${process.execPath}' '${child}'`;

/** A file system of a few megabytes, or null where this process may not mount one. */
function smallDisk(context: TestContext, size: string): string | null {
  let folder: string | null = null;
  // Before the hook that deletes the folder.
  context.after(() => folder !== null && spawnSync('umount', ['-l', folder]));
  const disk = join(temporaryFolder(context), 'disk');
  mkdirSync(disk);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', disk]);
  if (status === 0) folder = disk;
  return folder;
}

test('a process whose files may not grow any more loses nothing that had settled', async (context) => {
  const dir = temporaryFolder(context);
  // Segments end long before the limit, and the checkpoint reaches it.
  const script = `trap '' XFSZ; ulimit -f 1200; exec ${run} '${dir}' checkpoints 60000`;
  const { stdout, signal } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  const lines = stdout.trim().split('\n');
  // The checkpoint's thread is the service's own, which ends the process at once.
  assert.equal(signal, 'SIGKILL', stdout);
  assert.doesNotMatch(stdout, /failed/);
  const lastOf = (kind: string) =>
    Number(lines.findLast((line) => line.startsWith(kind))?.slice(kind.length) ?? 0);
  const journal = await journalIn(dir);
  assert.equal(journal.checkpoint.sequence, lastOf('checkpoint'));
  const sequences = sequencesOf(await replayOf(journal));
  assert(journal.log.nextSequence > lastOf('durable') && lastOf('durable') > 0);
  assert.deepEqual(sequences, upTo(journal.log.nextSequence - 1, lastOf('checkpoint') + 1));
  await journal.close();
});

for (const [where, segmentBytesMax] of [
  ['within a segment', 1 << 26],
  ['at a new segment', 1],
] as const) {
  test(`a log whose disk fills up ${where}`, async (context) => {
    const dir = smallDisk(context, '2m');
    if (dir === null) return context.skip('needs the right to mount a file system');
    const journal = await journalIn(dir, { segmentBytesMax });
    let durable = 0;
    const failures: unknown[] = [];
    while (failures.length === 0) {
      // Two in flight: neither may be on disk without the one before.
      const both = [0, 1].map(() => journal.log.append(turnAt(journal.log.nextSequence, 30)).durable);
      for (const { status, reason } of (await Promise.allSettled(both)) as PromiseRejectedResult[]) {
        if ((status as string) === 'rejected') failures.push(reason);
        else durable += 30;
      }
    }
    for (const failure of failures)
      assert(failure instanceof JournalFailure && failure.diskFull, String(failure));
    const behind = journal.log.append(turnAt(journal.log.nextSequence, 1)).durable;
    await assert.rejects(behind, { name: 'JournalFailure', diskFull: true });
    assert.equal(journal.log.readResponse({ record: 1, offset: 0 }, digest(1))?.status, 200);
    await journal.close();
    // The disk is still full: reading works.
    const full = await journalIn(dir);
    assert.deepEqual(sequencesOf(await replayOf(full)), upTo(durable));
    assert.equal(full.log.nextSequence, durable + 1);
    await full.close();
    spawnSync('mount', ['-o', 'remount,size=8m', dir]);
    const again = await recovered(await journalIn(dir, { segmentBytesMax }));
    await appendTurns(again, [30]);
    await again.close();
  });
}

test('a checkpoint whose disk fills up', async (context) => {
  const dir = smallDisk(context, '2m');
  if (dir === null) return context.skip('needs the right to mount a file system');
  const journal = await journalIn(dir);
  await appendTurns(journal, [10]);
  const filler = join(dir, 'filler');
  // The log's file may be growing still, so what is left is measured.
  const { bavail, bsize } = statfsSync(dir);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 300_000));
  const records = encoded(upTo(3_000).map((number) => paymentIntent(number)));
  const write = () => journal.checkpoint.write({ records, sequence: 10, idempotencyRecords: [] });
  await assert.rejects(write(), { name: 'JournalFailure', diskFull: true });
  assert.equal(journal.checkpoint.sequence, 0);
  rmSync(filler);
  await assert.rejects(write(), { name: 'JournalFailure' });
  await assert.rejects(journal.checkpointer.putMetadata(new Map([['a', new Uint8Array(1)]])), {
    name: 'JournalFailure',
  });
  await journal.close();
  spawnSync('mount', ['-o', 'remount,size=16m', dir]);
  const again = await journalIn(dir);
  assert.deepEqual(sequencesOf(await replayOf(again)), upTo(10));
  await again.checkpoint.write({ records, sequence: 10, idempotencyRecords: [] });
  assert.deepEqual(again.checkpoint.get(paymentIntent(2_999).id), paymentIntent(2_999));
  await again.close();
});
